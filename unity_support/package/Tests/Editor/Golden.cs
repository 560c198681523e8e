using System.IO;
using NUnit.Framework;

namespace PersonaEvo.Playtest.Tests
{
    /// <summary>The vectors that C# and Python both replay; they stand in the repository, not in the package.</summary>
    internal static class Golden
    {
        internal static JsonValue Read(string folder, string file)
        {
            string relative = Path.Combine("tests", Path.Combine(folder, file));
            string root = System.Environment.GetEnvironmentVariable("PERSONA_EVO_REPOSITORY");
            if (root == null)
                Assert.Ignore("set PERSONA_EVO_REPOSITORY to the project's folder to replay " + relative);
            return JsonValue.Parse(File.ReadAllText(Path.Combine(root, relative)));
        }
    }
}
