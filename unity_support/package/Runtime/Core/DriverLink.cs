#if PERSONA_EVO || UNITY_EDITOR || !UNITY_5_3_OR_NEWER
#define PERSONA_EVO_SESSION
#endif
using System;
using System.Collections;
using System.Globalization;
using System.IO;
#if PERSONA_EVO_SESSION
using System.Net;
using System.Net.Sockets;
#endif

namespace PersonaEvo.Playtest
{
    /// <summary>The driver's address, and what else it put into the game's environment.</summary>
    public sealed class DriverAddress
    {
        /// <summary>Where the driver listens.</summary>
        public string Host = "127.0.0.1";
        /// <summary>The port there.</summary>
        public int Port;
        /// <summary>The text that the greeting repeats.</summary>
        public string Nonce = "";
        /// <summary>The experiment's settings as JSON text.</summary>
        public string Settings = "{}";
        /// <summary>The number of this process, from 0.</summary>
        public int Worker;

        /// <summary>
        /// What the driver left in this process's environment; null where the game was started by hand, and in builds of
        /// Unity without the define PERSONA_EVO.
        /// </summary>
        /// <exception cref="PlaytestException">The port is not a valid port number.</exception>
        public static DriverAddress FromEnvironment()
        {
#if PERSONA_EVO_SESSION
            return From(Environment.GetEnvironmentVariables());
#else
            return null;
#endif
        }

        /// <summary>The same from a given environment, names to values.</summary>
        public static DriverAddress From(IDictionary environment)
        {
            string port = Either(environment, "PE_PORT", "MC_PORT");
            if (port.Length == 0)
                return null;
            var address = new DriverAddress();
            bool number = int.TryParse(port, NumberStyles.None, CultureInfo.InvariantCulture, out address.Port);
            if (!number || address.Port < 1 || address.Port > 65535)
                throw new PlaytestException("PE_PORT is '" + port + "', expected a port from 1 to 65535");
            string host = Either(environment, "PE_ADDR", "MC_ADDR");
            string settings = Either(environment, "PE_SETTINGS", "MC_EXP_SETTINGS");
            address.Host = host.Length > 0 ? host : address.Host;
            address.Nonce = Either(environment, "PE_NONCE", "MC_NONCE");
            address.Settings = settings.Length > 0 ? settings : address.Settings;
            int.TryParse(Either(environment, "PE_WORKER", "PE_WORKER"), out address.Worker);
            return address;
        }

        private static string Either(IDictionary environment, string name, string older) =>
            environment[name] as string ?? environment[older] as string ?? "";
    }

    /// <summary>
    /// The connection: frames out with one call each, frames in from one buffer. Builds of Unity without the define
    /// PERSONA_EVO have no sockets, and can make none.
    /// </summary>
    internal sealed class DriverLink : IDisposable
    {
        private readonly Stream stream;
        private byte[] incoming = new byte[64 * 1024];
        private int begin, end;

        internal readonly FrameWriter Out = new FrameWriter();

        private DriverLink(Stream stream)
        {
            this.stream = stream;
        }

#if PERSONA_EVO_SESSION
        /// <exception cref="PlaytestException">Nobody listens there.</exception>
        internal static DriverLink Connect(DriverAddress address, int milliseconds)
        {
            string where = address.Host + ":" + address.Port;
            Socket socket = null;
            try
            {
                IPAddress ip = Resolve(address.Host);
                socket = new Socket(ip.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
                socket.NoDelay = true;
                IAsyncResult pending = socket.BeginConnect(ip, address.Port, null, null);
                if (!pending.AsyncWaitHandle.WaitOne(milliseconds))
                    throw new PlaytestException("the driver at " + where + " does not answer");
                socket.EndConnect(pending);
                return new DriverLink(new NetworkStream(socket, true));
            }
            catch (SocketException e)
            {
                socket?.Close();
                throw new PlaytestException("no driver listens at " + where + ": " + e.Message, e);
            }
            catch (PlaytestException)
            {
                socket?.Close();
                throw;
            }
        }

        private static IPAddress Resolve(string host)
        {
            IPAddress ip;
            if (IPAddress.TryParse(host, out ip))
                return ip;
            if (host == "localhost")
                return IPAddress.Loopback;
            IPAddress[] found = Dns.GetHostAddresses(host);
            if (found.Length == 0)
                throw new PlaytestException("the driver's address '" + host + "' is not known");
            return found[0];
        }

        private static bool IsTimeout(IOException error)
        {
            var cause = error.InnerException as SocketException;
            return cause != null
                && (cause.SocketErrorCode == SocketError.TimedOut || cause.SocketErrorCode == SocketError.WouldBlock);
        }
#else
        internal static DriverLink Connect(DriverAddress address, int milliseconds)
        {
            throw new PlaytestException("this build has no playtest session; build it with the define PERSONA_EVO");
        }

        private static bool IsTimeout(IOException error) => false;
#endif

        /// <summary>How many milliseconds a read may take, 0 for any time.</summary>
        internal int ReadTimeout { set { stream.ReadTimeout = value > 0 ? value : System.Threading.Timeout.Infinite; } }

        /// <summary>Sends the frame in Out.</summary>
        /// <exception cref="ExperimentFinishedException">The driver is gone.</exception>
        internal void Send()
        {
            Out.End();
            try
            {
                stream.Write(Out.Bytes, 0, Out.Length);
            }
            catch (IOException)
            {
                throw Gone();
            }
            catch (ObjectDisposedException)
            {
                throw Gone();
            }
        }

        internal void SendText(FrameType type, string text)
        {
            Out.Begin(type);
            Out.Text(text);
            Send();
        }

        /// <summary>Waits for the next frame; its payload is valid until the next call.</summary>
        /// <exception cref="ExperimentFinishedException">The driver is gone.</exception>
        /// <exception cref="PlaytestException">The frame exceeds the largest size.</exception>
        internal FrameType Receive(out FrameReader payload)
        {
            Fill(5);
            var header = new FrameReader(incoming, begin, 5);
            uint length = header.U32();
            FrameType type = (FrameType)header.U8();
            if (length > Protocol.MostPayload)
                throw new PlaytestException("a frame of " + length + " bytes, expected at most " + Protocol.MostPayload);
            Fill(5 + (int)length);
            payload = new FrameReader(incoming, begin + 5, (int)length);
            begin += 5 + (int)length;
            return type;
        }

        public void Dispose()
        {
            stream.Dispose();
        }

        private void Fill(int wanted)
        {
            if (begin == end)
                begin = end = 0;
            if (begin + wanted > incoming.Length)
                MakeRoom(wanted);
            while (end - begin < wanted)
                end += ReceiveSome();
        }

        private int ReceiveSome()
        {
            int got = 0;
            try
            {
                got = stream.Read(incoming, end, incoming.Length - end);
            }
            catch (IOException e)
            {
                if (IsTimeout(e))
                    throw new PlaytestException("the driver took the connection and does not answer");
            }
            catch (ObjectDisposedException)
            {
            }
            if (got == 0)
                throw Gone();
            return got;
        }

        private void MakeRoom(int wanted)
        {
            byte[] target = wanted > incoming.Length ? new byte[Math.Max(wanted, incoming.Length * 2)] : incoming;
            Buffer.BlockCopy(incoming, begin, target, 0, end - begin);
            incoming = target;
            end -= begin;
            begin = 0;
        }

        private static ExperimentFinishedException Gone() =>
            new ExperimentFinishedException("the driver closed the connection");
    }
}
