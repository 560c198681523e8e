using UnityEditor;
using UnityEngine;

namespace PersonaEvo.Playtest.Editor
{
    /// <summary>What the window runs, kept with the project (ProjectSettings), so that a team shares it.</summary>
    [FilePath("ProjectSettings/PersonaEvoPlaytest.asset", FilePathAttribute.Location.ProjectFolder)]
    internal sealed class PlaytestSettings : ScriptableSingleton<PlaytestSettings>
    {
        [SerializeField] private string program = "persona-evo";
        [SerializeField] private string arguments = "playtest default --game {game} --out {out}";
        [SerializeField] private string report = "Builds/PlaytestReport";

        /// <summary>persona-evo: a name to be found in PATH, or a path from the project's folder.</summary>
        internal string Program { get { return program; } set { Change(ref program, value); } }

        /// <summary>The words behind the program; {game} and {out} stand for game.toml and the report's folder.</summary>
        internal string Arguments { get { return arguments; } set { Change(ref arguments, value); } }

        /// <summary>The report's folder, from the project's folder.</summary>
        internal string Report { get { return report; } set { Change(ref report, value); } }

        private void Change(ref string field, string value)
        {
            if (field == value)
                return;
            field = value;
            Save(true);
        }
    }
}
