using System;
using System.IO;
using System.Text;

namespace PersonaEvo.Games.Roguelike2d
{
    /// <summary>The program without the driver and without the package: plays what it reads (see <see cref="Replay"/>).</summary>
    public static class Alone
    {
        public static int Main()
        {
            using (var output = new StreamWriter(Console.OpenStandardOutput(), new UTF8Encoding(false), 1 << 16))
                return Replay.Run(Console.In, output);
        }
    }
}
