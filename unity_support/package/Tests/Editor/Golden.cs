using System.IO;
using NUnit.Framework;

namespace PersonaEvo.Playtest.Tests
{
    /// <summary>The vectors that C# and Python both replay; they stand in the repository, not in the package.</summary>
    internal static class Golden
    {
        internal static JsonValue Read(string folder, string file) =>
            JsonValue.Parse(Text("tests", Path.Combine(folder, file)));

        /// <summary>The text of a file in a folder of the repository.</summary>
        internal static string Text(string folder, string file)
        {
            string relative = Path.Combine(folder, file);
            string root = System.Environment.GetEnvironmentVariable("PERSONA_EVO_REPOSITORY");
            if (root == null)
                Assert.Ignore("set PERSONA_EVO_REPOSITORY to the folder of the repository to read " + relative);
            return File.ReadAllText(Path.Combine(root, relative));
        }
    }
}
