using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Text;
using UnityEditor;

namespace PersonaEvo.Playtest.Editor
{
    /// <summary>
    /// A run of persona-evo, outside of the Editor. It is started through a small script that writes what is said and the
    /// exit code to files, and the Editor's session remembers it. So it goes on, and is found again, when scripts are
    /// compiled or Play Mode begins, which ends everything that the Editor's scripts hold.
    /// </summary>
    internal sealed class PlaytestRun
    {
        private const string Folder = "Library/PersonaEvo";
        private const string Key = "PersonaEvo.Run", ReadKey = "PersonaEvo.RunRead";

        private readonly int wrapper;
        private long read;

        private PlaytestRun(int wrapper, long read)
        {
            this.wrapper = wrapper;
            this.read = read;
        }

        private static string LogFile => Path.GetFullPath(Folder + "/playtest.log");
        private static string ExitFile => Path.GetFullPath(Folder + "/playtest.exit");
        private static string ProcessFile => Path.GetFullPath(Folder + "/playtest.pid");
        private static bool IsWindows => Path.DirectorySeparatorChar == '\\';

        /// <summary>The run of this Editor session that has not been seen to end; null without one.</summary>
        internal static PlaytestRun Find()
        {
            int wrapper = SessionState.GetInt(Key, 0);
            return wrapper == 0 ? null : new PlaytestRun(wrapper, SessionState.GetInt(ReadKey, 0));
        }

        /// <summary>Starts a command in which {game} and {out} stand for paths.</summary>
        /// <exception cref="PlaytestException">There is no such program.</exception>
        internal static PlaytestRun Start(string program, string arguments, string game, string output)
        {
            string found = Locate(program);
            string words = arguments.Replace("{game}", Quoted(game)).Replace("{out}", Quoted(output));
            Directory.CreateDirectory(Folder);
            foreach (string old in new[] { LogFile, ExitFile, ProcessFile })
                File.Delete(old);
            string script = Path.GetFullPath(Folder + (IsWindows ? "/playtest.cmd" : "/playtest.sh"));
            File.WriteAllText(script, IsWindows ? Batch(found, words) : Shell(found, words), new UTF8Encoding(false));
            var start = new ProcessStartInfo
            {
                FileName = IsWindows ? "cmd.exe" : "/bin/sh", UseShellExecute = false, CreateNoWindow = true,
                Arguments = (IsWindows ? "/d /c " : "") + "\"" + script + "\""
            };
            using (Process process = Process.Start(start))
            {
                SessionState.SetInt(Key, process.Id);
                SessionState.SetInt(ReadKey, 0);
                return new PlaytestRun(process.Id, 0);
            }
        }

        /// <summary>The lines that were said since the last call.</summary>
        internal IList<string> NewLines()
        {
            var lines = new List<string>();
            if (!File.Exists(LogFile))
                return lines;
            using (var file = new FileStream(LogFile, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete))
            {
                file.Seek(Math.Min(read, file.Length), SeekOrigin.Begin);
                var bytes = new byte[file.Length - file.Position];
                int got = file.Read(bytes, 0, bytes.Length);
                int whole = Array.LastIndexOf(bytes, (byte)'\n', got - 1 < 0 ? 0 : got - 1) + 1;
                if (got == 0 || whole == 0)
                    return lines;
                foreach (string line in Encoding.UTF8.GetString(bytes, 0, whole).Split('\n'))
                    if (line.Trim().Length > 0)
                        lines.Add(line.TrimEnd());
                read += whole;
            }
            SessionState.SetInt(ReadKey, (int)read);
            return lines;
        }

        /// <summary>Whether the run has ended; code is its exit code then, -1 where it was ended from outside.</summary>
        internal bool HasEnded(out int code)
        {
            code = -1;
            bool written = File.Exists(ExitFile) && int.TryParse(
                File.ReadAllText(ExitFile).Trim(), NumberStyles.Integer, CultureInfo.InvariantCulture, out code);
            if (!written && IsAlive(wrapper))
                return false;
            SessionState.EraseInt(Key);
            return true;
        }

        /// <summary>Ends the run; the games that it started end with it.</summary>
        internal void Stop()
        {
            SessionState.EraseInt(Key);
            int process;
            if (IsWindows)
                Process.Start(new ProcessStartInfo("taskkill", "/T /F /PID " + wrapper)
                {
                    UseShellExecute = false, CreateNoWindow = true
                });
            else if (File.Exists(ProcessFile) && int.TryParse(File.ReadAllText(ProcessFile).Trim(), out process)
                && IsAlive(process))
                using (Process found = Process.GetProcessById(process))
                    found.Kill();
        }

        private static bool IsAlive(int process)
        {
            try
            {
                using (Process found = Process.GetProcessById(process))
                    return !found.HasExited;
            }
            catch (ArgumentException)
            {
                return false;
            }
            catch (InvalidOperationException)
            {
                return false;
            }
        }

        private static string Shell(string program, string words)
        {
            return Quoted(program) + " " + words + " > " + Quoted(LogFile) + " 2>&1 < /dev/null &\n"
                + "echo $! > " + Quoted(ProcessFile) + "\nwait $!\necho $? > " + Quoted(ExitFile) + "\n";
        }

        private static string Batch(string program, string words)
        {
            return "@" + (Quoted(program) + " " + words + " > " + Quoted(LogFile) + " 2>&1 < nul").Replace("%", "%%") + "\r\n"
                + "@echo %ERRORLEVEL%> " + Quoted(ExitFile).Replace("%", "%%") + "\r\n";
        }

        /// <summary>A path as one word of the script.</summary>
        private static string Quoted(string path) =>
            IsWindows ? "\"" + path.Replace("\"", "") + "\"" : "'" + path.Replace("'", "'\\''") + "'";

        /// <summary>The program's full path.</summary>
        private static string Locate(string program)
        {
            var folders = new List<string>();
            if (program.IndexOf('/') >= 0 || program.IndexOf('\\') >= 0)
                folders.Add(Directory.GetCurrentDirectory());
            else
                folders.AddRange((Environment.GetEnvironmentVariable("PATH") ?? "").Split(Path.PathSeparator));
            foreach (string folder in folders)
                foreach (string ending in IsWindows ? new[] { ".exe", ".cmd", "" } : new[] { "" })
                {
                    string path = folder.Length == 0 ? "" : Path.Combine(folder, program + ending);
                    if (File.Exists(path))
                        return path;
                }
            throw new PlaytestException("'" + program + "' was not found; give the path of persona-evo, such as "
                + (IsWindows ? ".venv/Scripts/persona-evo.exe" : ".venv/bin/persona-evo"));
        }
    }
}
