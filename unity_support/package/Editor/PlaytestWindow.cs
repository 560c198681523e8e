using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using UnityEditor;
using UnityEngine;
using UnityEngine.Tilemaps;

namespace PersonaEvo.Playtest.Editor
{
    /// <summary>Window > Persona Evo > Playtest: builds and plays, and shows a playtest's heatmap over a tilemap.</summary>
    public sealed class PlaytestWindow : EditorWindow
    {
        private const string Program = "PersonaEvo.Program", Arguments = "PersonaEvo.Arguments", Report = "PersonaEvo.Report";
        private const string UsualArguments = "playtest default --game {game} --out {out}";
        private const string UsualReport = "Builds/PlaytestReport";

        private readonly Queue<string> said = new Queue<string>();
        private readonly object saying = new object();
        private Process process;
        private string message = "";
        private Heatmap heatmap;
        private Tilemap tilemap;
        private Vector2Int corner;
        private bool rowsGoDown = true;
        private float opacity = 0.6f;
        private int level, player;

        [MenuItem("Window/Persona Evo/Playtest")]
        private static void Open()
        {
            GetWindow<PlaytestWindow>("Playtest");
        }

        private void OnEnable()
        {
            SceneView.duringSceneGui += DrawHeatmap;
            EditorApplication.update += Watch;
        }

        private void OnDisable()
        {
            SceneView.duringSceneGui -= DrawHeatmap;
            EditorApplication.update -= Watch;
            Stop();
        }

        private void OnGUI()
        {
            Setting("Program", Program, "persona-evo");
            Setting("Arguments", Arguments, UsualArguments);
            Setting("Report", Report, UsualReport);
            if (process != null)
            {
                if (GUILayout.Button("Stop"))
                    Stop();
            }
            else if (GUILayout.Button("Build and playtest"))
                Try(BuildAndPlay);
            if (GUILayout.Button("Show the report's heatmap"))
                Try(Load);
            if (heatmap != null)
                HeatmapGui();
            if (message.Length > 0)
                EditorGUILayout.HelpBox(message, MessageType.Info);
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

        private static void Setting(string label, string key, string usual)
        {
            string before = EditorPrefs.GetString(key, usual);
            string after = EditorGUILayout.TextField(label, before);
            if (after != before)
                EditorPrefs.SetString(key, after);
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
            string game = PlaytestBuild.Description(PlaytestBuild.Player(), Application.productName);
            string output = Path.GetFullPath(EditorPrefs.GetString(Report, UsualReport));
            process = PlaytestBuild.Start(EditorPrefs.GetString(Program, "persona-evo"),
                EditorPrefs.GetString(Arguments, UsualArguments), game, output, Say);
            message = "playing";
        }

        /// <summary>Called from other threads.</summary>
        private void Say(string line)
        {
            if (line == null)
                return;
            lock (saying)
                said.Enqueue(line);
        }

        private void Watch()
        {
            lock (saying)
            {
                while (said.Count > 0)
                    UnityEngine.Debug.Log(message = said.Dequeue());
            }
            if (process == null || !process.HasExited)
                return;
            int code = process.ExitCode;
            process.Dispose();
            process = null;
            if (code == 0)
                Try(Load);
            else
                message = "persona-evo ended with code " + code + "; the Console has what it said";
            Repaint();
        }

        private void Stop()
        {
            if (process == null)
                return;
            if (!process.HasExited)
                process.Kill();
            process.Dispose();
            process = null;
        }

        private void Load()
        {
            string file = Path.Combine(EditorPrefs.GetString(Report, UsualReport), "traces.jsonl");
            if (!File.Exists(file))
                throw new PlaytestException("there is no " + file + "; choose the folder that a playtest wrote with --out");
            string wantedLevel = Chosen(heatmap, true, level), wantedPlayer = Chosen(heatmap, false, player);
            using (var reader = new StreamReader(file))
                heatmap = Heatmap.Read(reader, wantedLevel, wantedPlayer);
            if (heatmap.Playthroughs == 0)
                throw new PlaytestException("the report has no positions of this player in this level; a game tells them by the metrics X and Y");
            message = heatmap.Playthroughs + " playthroughs, at most " + heatmap.Most.ToString("0.##") + " visits of a cell in each";
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
