using System;
using System.IO;
using System.IO.Compression;

namespace PersonaEvo.Playtest
{
    /// <summary>Makes PNG files, for pictures of a game (see PlaytestSession.Draw).</summary>
    public static class Png
    {
        private static readonly byte[] Signature = { 0x89, (byte)'P', (byte)'N', (byte)'G', 13, 10, 26, 10 };
        private static readonly uint[] Crc = MakeCrc();

        /// <summary>Returns a PNG file.</summary>
        /// <param name="rgb">Red, green and blue of each pixel, row by row from the top left.</param>
        /// <exception cref="ArgumentException">There are not three bytes for each pixel.</exception>
        public static byte[] Encode(int width, int height, byte[] rgb)
        {
            if (width < 1 || height < 1 || rgb.Length != 3L * width * height)
                throw new ArgumentException(rgb.Length + " bytes for " + width + " x " + height
                    + " pixels; three for each are needed");
            var file = new MemoryStream();
            file.Write(Signature, 0, Signature.Length);
            var head = new byte[13];
            Put(head, 0, (uint)width);
            Put(head, 4, (uint)height);
            head[8] = 8; // bits of a colour
            head[9] = 2; // red, green and blue
            Chunk(file, "IHDR", head);
            Chunk(file, "IDAT", Zlib(Rows(width, height, rgb)));
            Chunk(file, "IEND", new byte[0]);
            return file.ToArray();
        }

        /// <summary>Puts before each row the number of its filter, 0 for none.</summary>
        private static byte[] Rows(int width, int height, byte[] rgb)
        {
            int row = 3 * width;
            var rows = new byte[height * (row + 1)];
            for (int y = 0; y < height; y++)
                Buffer.BlockCopy(rgb, y * row, rows, y * (row + 1) + 1, row);
            return rows;
        }

        private static byte[] Zlib(byte[] content)
        {
            var stream = new MemoryStream();
            stream.WriteByte(0x78);
            stream.WriteByte(0x01);
            using (var deflate = new DeflateStream(stream, CompressionMode.Compress, true))
                deflate.Write(content, 0, content.Length);
            uint a = 1, b = 0; // Adler-32
            foreach (byte value in content)
            {
                a = (a + value) % 65521;
                b = (b + a) % 65521;
            }
            var sum = new byte[4];
            Put(sum, 0, b << 16 | a);
            stream.Write(sum, 0, 4);
            return stream.ToArray();
        }

        private static void Chunk(Stream file, string kind, byte[] content)
        {
            var bytes = new byte[content.Length + 12];
            Put(bytes, 0, (uint)content.Length);
            for (int i = 0; i < 4; i++)
                bytes[4 + i] = (byte)kind[i];
            Buffer.BlockCopy(content, 0, bytes, 8, content.Length);
            uint crc = uint.MaxValue;
            for (int i = 4; i < content.Length + 8; i++)
                crc = crc >> 8 ^ Crc[(byte)crc ^ bytes[i]];
            Put(bytes, content.Length + 8, ~crc);
            file.Write(bytes, 0, bytes.Length);
        }

        /// <summary>Writes a number with its highest byte first.</summary>
        private static void Put(byte[] target, int at, uint value)
        {
            for (int i = 0; i < 4; i++)
                target[at + i] = (byte)(value >> (24 - 8 * i));
        }

        private static uint[] MakeCrc()
        {
            var table = new uint[256];
            for (uint i = 0; i < 256; i++)
            {
                table[i] = i;
                for (int bit = 0; bit < 8; bit++)
                    table[i] = table[i] >> 1 ^ ((table[i] & 1) != 0 ? 0xEDB88320 : 0);
            }
            return table;
        }
    }
}
