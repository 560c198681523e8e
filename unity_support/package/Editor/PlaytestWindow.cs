using System;
using System.Collections.Generic;
using System.IO;
using UnityEditor;
using UnityEngine;
using UnityEngine.Tilemaps;

namespace PersonaEvo.Playtest.Editor
{
    /// <summary>
    /// Window > Persona Evo > Playtest: builds and plays, attaches Play Mode to a driver, and shows a playtest's heatmap over a
    /// tilemap.
    /// </summary>
    public sealed class PlaytestWindow : EditorWindow
    {
        private PlaytestRun run;
        private string message = "";
        private Heatmap heatmap;
        private Tilemap tilemap;
        private Vector2Int corner;
        private bool rowsGoDown = true;
        private float opacity = 0.6f;
        private int level, player, port = PlaytestBehaviour.AttachPort;
        private string token = "";

        [MenuItem("Window/Persona Evo/Playtest")]
        private static void Open()
        {
            GetWindow<PlaytestWindow>("Playtest");
        }

        private void OnEnable()
        {
            SceneView.duringSceneGui += DrawHeatmap;
            EditorApplication.update += Watch;
            EditorApplication.quitting += Stop;
            run = PlaytestRun.Find();
        }

        private void OnDisable()
        {
            SceneView.duringSceneGui -= DrawHeatmap;
            EditorApplication.update -= Watch;
            EditorApplication.quitting -= Stop;
        }

        private void OnGUI()
        {
            PlaytestSettings settings = PlaytestSettings.instance;
            settings.Program = EditorGUILayout.TextField("Program", settings.Program);
            settings.Arguments = EditorGUILayout.TextField("Arguments", settings.Arguments);
            settings.Report = EditorGUILayout.TextField("Report", settings.Report);
            if (run != null)
            {
                if (GUILayout.Button("Stop"))
                    Stop();
            }
            else if (GUILayout.Button("Build and playtest"))
                EditorApplication.delayCall += () => Try(BuildAndPlay);
            if (GUILayout.Button("Show the report's heatmap"))
                Try(Load);
            if (heatmap != null)
                HeatmapGui();
            AttachGui();
            if (message.Length > 0)
                EditorGUILayout.HelpBox(message, MessageType.Info);
        }

        /// <summary>Play Mode takes part in a search: the driver that waits for it has shown port and token.</summary>
        private void AttachGui()
        {
            port = EditorGUILayout.IntField("Driver's port", port);
            token = EditorGUILayout.TextField("Driver's token", token);
            if (token.Length == 0 || EditorApplication.isPlaying || !GUILayout.Button("Attach Play Mode"))
                return;
            PlaytestBehaviour.AttachNext(port, token);
            token = "";
            EditorApplication.isPlaying = true;
        }

        private void HeatmapGui()
        {
            tilemap = (Tilemap)EditorGUILayout.ObjectField("Tilemap", tilemap, typeof(Tilemap), true);
            corner = EditorGUILayout.Vector2IntField("Tilemap's cell of (0, 0)", corner);
            rowsGoDown = EditorGUILayout.Toggle("y grows downwards", rowsGoDown);
            opacity = EditorGUILayout.Slider("Opacity", opacity, 0f, 1f);
            int newLevel = EditorGUILayout.Popup("Level", level, Names(heatmap.Levels));
            int newPlayer = EditorGUILayout.Popup("Player", player, Names(heatmap.Players));
            if (newLevel != level || newPlayer != player)
            {
                level = newLevel;
                player = newPlayer;
                Try(Load);
            }
            SceneView.RepaintAll();
        }

        /// <summary>The names in a list that begins with "all".</summary>
        private static string[] Names(ICollection<string> names)
        {
            var list = new List<string> { "all" };
            list.AddRange(names);
            return list.ToArray();
        }

        private static string Chosen(Heatmap map, bool levels, int index)
        {
            string[] names = map == null ? new[] { "all" } : Names(levels ? map.Levels : map.Players);
            return index > 0 && index < names.Length ? names[index] : "";
        }

        private void Try(Action action)
        {
            try
            {
                message = "";
                action();
            }
            catch (Exception e) when (e is PlaytestException || e is IOException || e is UnauthorizedAccessException)
            {
                message = e.Message;
            }
        }

        private void BuildAndPlay()
        {
            PlaytestSettings settings = PlaytestSettings.instance;
            string game = PlaytestBuild.Description(PlaytestBuild.Player(), Application.productName);
            run = PlaytestRun.Start(settings.Program, settings.Arguments, game, Path.GetFullPath(settings.Report));
            message = "playing";
            Repaint();
        }

        private void Watch()
        {
            if (run == null)
                return;
            int code;
            bool ended = run.HasEnded(out code);
            foreach (string line in run.NewLines())
                Debug.Log(message = line);
            if (!ended)
                return;
            run = null;
            if (code == 0)
                Try(Load);
            else
                message = "persona-evo ended with code " + code + "; the Console has what it said";
            Repaint();
        }

        private void Stop()
        {
            if (run != null)
                run.Stop();
            run = null;
        }

        private void Load()
        {
            string file = Path.Combine(PlaytestSettings.instance.Report, "traces.jsonl");
            if (!File.Exists(file))
                throw new PlaytestException("there is no " + file + "; choose the folder that a playtest wrote with --out");
            string wantedLevel = Chosen(heatmap, true, level), wantedPlayer = Chosen(heatmap, false, player);
            using (var reader = new StreamReader(file))
                heatmap = Heatmap.Read(reader, wantedLevel, wantedPlayer);
            if (heatmap.Playthroughs == 0)
                throw new PlaytestException("the report has no positions of this player in this level; "
                    + "a game reports them as the metrics X and Y");
            message = heatmap.Playthroughs + " playthroughs, at most " + heatmap.Most.ToString("0.##")
                + " visits of a cell in each";
            SceneView.RepaintAll();
        }

        private void DrawHeatmap(SceneView view)
        {
            if (heatmap == null || tilemap == null || heatmap.Most <= 0.0)
                return;
            for (int y = 0; y < heatmap.Height; y++)
                for (int x = 0; x < heatmap.Width; x++)
                    if (heatmap[x, y] > 0.0)
                        DrawCell(x, y, (float)(heatmap[x, y] / heatmap.Most));
        }

        private void DrawCell(int x, int y, float share)
        {
            var cell = new Vector3Int(corner.x + x, corner.y + (rowsGoDown ? -y : y), 0);
            Vector3[] corners =
            {
                tilemap.CellToWorld(cell), tilemap.CellToWorld(cell + new Vector3Int(0, 1, 0)),
                tilemap.CellToWorld(cell + new Vector3Int(1, 1, 0)), tilemap.CellToWorld(cell + new Vector3Int(1, 0, 0))
            };
            var colour = new Color(1f, 1f - share, 0f, opacity * (0.3f + 0.7f * share));
            Handles.DrawSolidRectangleWithOutline(corners, colour, Color.clear);
        }
    }
}
