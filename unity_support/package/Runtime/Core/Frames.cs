using System;
using System.Runtime.InteropServices;
using System.Text;

namespace PersonaEvo.Playtest
{
    /// <summary>The numbers of PROTOCOL.md that both sides must agree on.</summary>
    public static class Protocol
    {
        /// <summary>The version; another major one is refused.</summary>
        public const int Major = 1;
        /// <summary>The minor version.</summary>
        public const int Minor = 0;
        /// <summary>How the greeting begins.</summary>
        public const string Magic = "persona-evo";
        /// <summary>What the greeting says of this library.</summary>
        public const string Library = "persona-evo-csharp 0.1.0";
        /// <summary>Longest payload of a frame, in bytes.</summary>
        public const int MostPayload = 16 * 1024 * 1024;
        /// <summary>Longest payload of HELLO, in bytes.</summary>
        public const int MostHello = 4096;
        /// <summary>Most choices that a decision can have.</summary>
        public const int MostChoices = 65534;
        /// <summary>Most decisions that a playthrough can be declared to have.</summary>
        public const int MostDecisions = 1000000;
        /// <summary>Longest message in a RESULT, in bytes of UTF-8.</summary>
        public const int MostMessage = 4096;
        /// <summary>Largest whole number that is written as a number in JSON; larger ones are texts.</summary>
        public const ulong MostJsonInteger = (1UL << 53) - 1;
        /// <summary>Largest file of a picture, in bytes.</summary>
        public const int MostPicture = 1024 * 1024;
        /// <summary>Most bytes that come back from a PING.</summary>
        public const int MostPing = 64;
    }

    internal enum FrameType : byte
    {
        Hello = 1, Welcome = 2, Rollout = 3, Result = 4, Policy = 5, Decide = 6, Choice = 7, Ping = 8, Error = 9, Bye = 10,
        Restore = 11, Picture = 12
    }

    /// <summary>How a playthrough ended, as RESULT tells it.</summary>
    public enum PlaythroughStatus : byte
    {
        /// <summary>The game came to its end.</summary>
        Ok = 0,
        /// <summary>As many decisions were made as the game declared, and one more was asked for.</summary>
        Truncated = 1,
        /// <summary>The driver's choices did not fit.</summary>
        IllegalPrefix = 2,
        /// <summary>The game's code failed.</summary>
        Exception = 3
    }

    internal enum MetricsWanted : byte { None = 0, Final = 1, EveryDecision = 2 }

    internal enum ChoiceRule : byte { Uniform = 0, Weighted = 1, Policy = 2, Ask = 3 }

    /// <summary>Builds frames in one buffer, which is reused.</summary>
    internal sealed class FrameWriter
    {
        private const int Header = 5;
        internal static readonly UTF8Encoding Utf8 = new UTF8Encoding(false, true);
        private static readonly UTF8Encoding Lenient = new UTF8Encoding(false, false);
        private byte[] bytes = new byte[4096];
        private int used;

        [StructLayout(LayoutKind.Explicit)]
        private struct FloatBits
        {
            [FieldOffset(0)] public float Value;
            [FieldOffset(0)] public uint Bits;
        }

        internal byte[] Bytes => bytes;

        /// <summary>Length of the whole frame.</summary>
        internal int Length => used;

        internal int PayloadLength => used - Header;

        internal void Begin(FrameType type)
        {
            used = 4;
            U8((byte)type);
        }

        /// <summary>Writes the payload's length into the header.</summary>
        internal void End()
        {
            uint length = (uint)PayloadLength;
            for (int i = 0; i < 4; i++)
                bytes[i] = (byte)(length >> (8 * i));
        }

        internal void U8(byte value)
        {
            Reserve(1);
            bytes[used++] = value;
        }

        internal void U16(int value)
        {
            Reserve(2);
            bytes[used++] = (byte)value;
            bytes[used++] = (byte)(value >> 8);
        }

        internal void U32(uint value)
        {
            Reserve(4);
            for (int shift = 0; shift < 32; shift += 8)
                bytes[used++] = (byte)(value >> shift);
        }

        internal void U64(ulong value)
        {
            Reserve(8);
            for (int shift = 0; shift < 64; shift += 8)
                bytes[used++] = (byte)(value >> shift);
        }

        internal void F64(double value)
        {
            U64(unchecked((ulong)BitConverter.DoubleToInt64Bits(value)));
        }

        internal void F32(float value)
        {
            U32(Bits(value));
        }

        internal void Raw(byte[] source, int from, int length)
        {
            Reserve(length);
            Buffer.BlockCopy(source, from, bytes, used, length);
            used += length;
        }

        internal void Text(string text)
        {
            byte[] encoded = Lenient.GetBytes(text);
            Raw(encoded, 0, encoded.Length);
        }

        /// <summary>Writes a text, cut off after a number of bytes but never inside a character.</summary>
        internal void Text(string text, int most)
        {
            byte[] encoded = Lenient.GetBytes(text);
            int length = Math.Min(encoded.Length, most);
            while (length < encoded.Length && length > 0 && (encoded[length] & 0xC0) == 0x80)
                length--;
            Raw(encoded, 0, length);
        }

        internal static uint Bits(float value)
        {
            var union = new FloatBits();
            union.Value = value;
            return union.Bits;
        }

        private void Reserve(int more)
        {
            if (used + more <= bytes.Length)
                return;
            Array.Resize(ref bytes, Math.Max(bytes.Length * 2, used + more));
        }
    }

    /// <summary>Reads a payload that was received.</summary>
    internal struct FrameReader
    {
        private readonly byte[] bytes;
        private readonly int end;
        private int at;

        internal FrameReader(byte[] bytes, int begin, int length)
        {
            this.bytes = bytes;
            at = begin;
            end = begin + length;
        }

        internal int Left => end - at;

        internal byte U8() => (byte)Take(1);

        internal int U16() => (int)Take(2);

        internal uint U32() => (uint)Take(4);

        internal ulong U64() => Take(8);

        internal string Text()
        {
            try
            {
                return FrameWriter.Utf8.GetString(bytes, at, end - at);
            }
            catch (DecoderFallbackException)
            {
                throw new JsonException("a frame's text is not UTF-8");
            }
        }

        private ulong Take(int size)
        {
            if (Left < size)
                throw new PlaytestException("a frame from the driver is too short");
            ulong value = 0;
            for (int i = 0; i < size; i++)
                value |= (ulong)bytes[at++] << (8 * i);
            return value;
        }
    }
}
