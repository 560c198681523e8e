using System.Collections.Generic;
using System.IO;
using System.Text;
using UnityEditor;
using UnityEditor.Build.Reporting;
using UnityEngine;

namespace PersonaEvo.Playtest.Editor
{
    /// <summary>Builds the player, with the session inside, and describes it to persona-evo.</summary>
    internal static class PlaytestBuild
    {
        private const string Folder = "Builds/Playtest";
        private const string Define = "PERSONA_EVO";

        /// <summary>What game.toml says beside the game; lines with # are to be filled in.</summary>
        private const string Template = @"workers = 2                      # copies of the game that play at the same time
# rollout = ""weights""            # guesses go by the weights that the game gives to TrySelect
# personas = [""personas/*.toml""] # who plays, from this file's folder; persona-evo persona new writes one

# What counts as won and as lost at the game's end: formulas over the metrics that the component declares, above 0
# means yes. Without them no playthrough is either, and a win rate says nothing.
[outcome]
# won = ""WON""
# lost = ""DEAD""

# Sets of levels, MAP:VARIANT@SEED each: evolve on some, playtest others.
[maps]
# train = [""default@1-10""]
# test = [""default@11-20""]

# What the game finds in PlaytestBehaviour.Settings.
[settings]
";

        /// <summary>
        /// Builds the scenes of the build settings for this machine, with the define PERSONA_EVO, and returns the player's
        /// path. Not to be called while the Editor draws a window: see EditorApplication.delayCall.
        /// </summary>
        /// <exception cref="PlaytestException">There are no scenes, or the build fails.</exception>
        internal static string Player()
        {
            var scenes = new List<string>();
            foreach (EditorBuildSettingsScene scene in EditorBuildSettings.scenes)
                if (scene.enabled)
                    scenes.Add(scene.path);
            if (scenes.Count == 0)
                throw new PlaytestException("no scene is enabled in the build settings");
            BuildTarget target = EditorUserBuildSettings.activeBuildTarget;
            string path = Folder + "/Game" + Ending(target);
            Directory.CreateDirectory(Folder);
            var options = new BuildPlayerOptions
            {
                scenes = scenes.ToArray(), locationPathName = path, target = target, options = BuildOptions.None,
                extraScriptingDefines = new[] { Define }
            };
            BuildReport report = BuildPipeline.BuildPlayer(options);
            if (report.summary.result != BuildResult.Succeeded)
                throw new PlaytestException("the build ended as " + report.summary.result + "; the Console has its errors");
            return Path.GetFullPath(path);
        }

        /// <summary>
        /// Writes the file beside the player that describes the game to persona-evo. An existing file is left unchanged,
        /// because designers define in it what winning and losing mean, and add maps, personas and settings.
        /// </summary>
        internal static string Description(string player, string name)
        {
            string path = Path.Combine(Path.GetDirectoryName(player), "game.toml");
            if (File.Exists(path))
                return path;
            File.WriteAllText(path, "name = \"" + Word(name) + "\"\ngame = \"" + Path.GetFileName(player) + "\"\n" + Template);
            Debug.Log("wrote " + path + "; say in it what counts as won and lost, and which levels there are");
            return path;
        }

        /// <summary>A name of letters, digits, _ and - that begins with a letter.</summary>
        private static string Word(string name)
        {
            var word = new StringBuilder();
            foreach (char c in name)
                word.Append((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_');
            string found = word.ToString().TrimStart('_', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9');
            return found.Length > 0 ? found : "game";
        }

        private static string Ending(BuildTarget target)
        {
            switch (target)
            {
                case BuildTarget.StandaloneWindows:
                case BuildTarget.StandaloneWindows64:
                    return ".exe";
                case BuildTarget.StandaloneOSX:
                    return ".app";
                case BuildTarget.StandaloneLinux64:
                    return ".x86_64";
                default:
                    throw new PlaytestException("the active build target is " + target
                        + "; switch to the one for this machine, since the driver starts the game here");
            }
        }
    }
}
