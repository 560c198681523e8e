using System;
using System.Collections.Generic;
using System.IO;
using System.Net;
using System.Net.Sockets;
using System.Text;
using System.Threading;
using NUnit.Framework;

namespace PersonaEvo.Playtest.Tests
{
    /// <summary>A driver that only says what a test tells it to.</summary>
    internal sealed class FakeDriver : IDisposable
    {
        private readonly TcpListener listener = new TcpListener(IPAddress.Loopback, 0);
        private NetworkStream stream;

        internal FakeDriver()
        {
            listener.Start();
            Address = new DriverAddress { Port = ((IPEndPoint)listener.LocalEndpoint).Port, Nonce = "ab12" };
        }

        internal DriverAddress Address { get; private set; }

        internal JsonValue Hello { get; private set; }

        internal void Accept(string welcome = "{\"protocol\": [1, 0], \"settings\": {}}")
        {
            TcpClient client = listener.AcceptTcpClient();
            client.NoDelay = true;
            stream = client.GetStream();
            stream.ReadTimeout = 10000;
            byte type;
            Hello = JsonValue.Parse(Encoding.UTF8.GetString(Read(out type)));
            Assert.AreEqual(1, type);
            Send(2, welcome);
        }

        internal void Send(byte type, string text)
        {
            Send(type, Encoding.UTF8.GetBytes(text));
        }

        internal void Send(byte type, byte[] payload)
        {
            var bytes = new MemoryStream();
            var writer = new BinaryWriter(bytes);
            writer.Write((uint)payload.Length);
            writer.Write(type);
            writer.Write(payload);
            stream.Write(bytes.ToArray(), 0, (int)bytes.Length);
        }

        /// <summary>An order with all metrics that has to do with kept states; all have the same id and seeds.</summary>
        internal void Restore(ulong state, uint depth, ulong keep, params int[] prefix)
        {
            var bytes = new MemoryStream();
            var writer = new BinaryWriter(bytes);
            writer.Write(state);
            writer.Write(depth);
            writer.Write(keep);
            Order(writer, 7, 2, 0, 0, prefix);
            Send(11, bytes.ToArray());
        }

        internal void Rollout(ulong id, byte flags, byte mode, uint policy, params int[] prefix)
        {
            var bytes = new MemoryStream();
            Order(new BinaryWriter(bytes), id, flags, mode, policy, prefix);
            Send(3, bytes.ToArray());
        }

        private static void Order(BinaryWriter writer, ulong id, byte flags, byte mode, uint policy, int[] prefix)
        {
            writer.Write(id);
            writer.Write(1000UL + id);
            writer.Write(2000UL + id);
            writer.Write(flags);
            writer.Write(mode);
            writer.Write(policy);
            foreach (int value in prefix)
                writer.Write((ushort)value);
        }

        internal void SendRaw(byte[] frame)
        {
            stream.Write(frame, 0, frame.Length);
        }

        internal byte[] Read(out byte type)
        {
            byte[] header = Exactly(5);
            type = header[4];
            return Exactly(BitConverter.ToInt32(header, 0));
        }

        internal Result Result()
        {
            byte type;
            byte[] payload = Read(out type);
            Assert.AreEqual(4, type, Encoding.UTF8.GetString(payload));
            return new Result(payload);
        }

        public void Dispose()
        {
            if (stream != null)
                stream.Dispose();
            listener.Stop();
        }

        private byte[] Exactly(int length)
        {
            var bytes = new byte[length];
            for (int got = 0; got < length;)
            {
                int more = stream.Read(bytes, got, length - got);
                Assert.Greater(more, 0, "the game closed the connection");
                got += more;
            }
            return bytes;
        }
    }

    /// <summary>RESULT, read by the book and not by the library.</summary>
    internal sealed class Result
    {
        internal readonly ulong Id, Hash;
        internal readonly int Status;
        internal readonly double Score;
        internal readonly string Trace, Rows, Final, Message;

        internal Result(byte[] payload)
        {
            var reader = new BinaryReader(new MemoryStream(payload));
            Id = reader.ReadUInt64();
            Status = reader.ReadByte();
            Score = reader.ReadDouble();
            var trace = new List<string>();
            for (uint n = reader.ReadUInt32(); n > 0; n--)
                trace.Add(reader.ReadUInt16() + "/" + reader.ReadUInt16());
            Trace = string.Join(" ", trace);
            uint count = reader.ReadUInt32();
            int columns = reader.ReadUInt16();
            var rows = new List<string>();
            for (uint i = 0; i < count; i++)
                rows.Add(Row(reader, columns));
            Rows = string.Join(" | ", rows);
            Final = Row(reader, columns);
            Hash = reader.ReadUInt64();
            reader.ReadUInt32();
            Message = Encoding.UTF8.GetString(reader.ReadBytes(payload.Length));
        }

        private static string Row(BinaryReader reader, int columns)
        {
            var values = new List<string>();
            for (int i = 0; i < columns; i++)
                values.Add(reader.ReadSingle().ToString(System.Globalization.CultureInfo.InvariantCulture));
            return string.Join(" ", values);
        }
    }

    [TestFixture]
    public class SessionTests
    {
        /// <summary>Plays a walk under a driver whose side runs on this thread; returns what the game's loop threw.</summary>
        private static Exception Play(Action<FakeDriver> driver, Action<PlaytestSession, Walk> set = null,
            Func<Walk, double> score = null, int most = 100, string settings = "{}")
        {
            Exception thrown = null;
            using (var fake = new FakeDriver())
            {
                var walk = new Walk();
                fake.Address.Settings = settings;
                var session = new PlaytestSession("walk", "3", most, fake.Address);
                session.DeclareMetric("AT", "cell", 0, 9);
                session.DeclareMetric("ST", "steps");
                if (set != null)
                    set(session, walk);
                var game = new Thread(() =>
                {
                    try
                    {
                        session.Run(() => Once(session, walk, score ?? (w => w.Score)));
                    }
                    catch (Exception e)
                    {
                        thrown = e;
                    }
                    session.Dispose();
                });
                game.Start();
                try
                {
                    driver(fake);
                }
                finally
                {
                    fake.Dispose();
                    if (!game.Join(10000))
                        Assert.Fail("the game does not end when the driver is gone");
                }
            }
            return thrown;
        }

        private static void Once(PlaytestSession session, Walk walk, Func<Walk, double> score)
        {
            walk.Reset();
            Report(session, walk);
            while (walk.Count > 0)
            {
                walk.Apply(session.Select(walk.Count, new[] { 0.0, 1.0 }));
                Report(session, walk);
            }
            session.SupplyOutcome(score(walk));
        }

        private static void Report(PlaytestSession session, Walk walk)
        {
            session.ReportMetric("AT", walk.At);
            session.ReportScore(walk.At * 10);
        }

        [Test]
        public void HelloSaysWhoPlays()
        {
            Play(d =>
            {
                d.Accept();
                Assert.AreEqual("persona-evo", d.Hello["magic"].AsString());
                Assert.AreEqual(1, d.Hello["protocol"].Items[0].AsInt());
                Assert.AreEqual("ab12", d.Hello["nonce"].AsString());
                Assert.AreEqual("walk", d.Hello["game"]["name"].AsString());
                Assert.AreEqual("3", d.Hello["game"]["version"].AsString());
                Assert.AreEqual("AT", d.Hello["metrics"].Items[0]["symbol"].AsString());
                Assert.AreEqual(9.0, d.Hello["metrics"].Items[0]["high"].AsDouble());
                Assert.AreEqual(JsonKind.Null, d.Hello["metrics"].Items[1]["high"].Kind);
                Assert.AreEqual(100, d.Hello["max_decisions"].AsInt());
                Assert.AreEqual(2, d.Hello["capabilities"].Items.Count);
                Assert.AreEqual("weights", d.Hello["capabilities"].Items[0].AsString());
                Assert.AreEqual("lookahead", d.Hello["capabilities"].Items[1].AsString());
            }, (s, w) =>
            {
                s.Model = w;
                s.Abilities = Abilities.Weights;
            });
        }

        [Test]
        public void WelcomeBringsTheSettings()
        {
            PlaytestSession session = null;
            Play(d =>
            {
                d.Accept("{\"protocol\": [1, 7], \"settings\": {\"lives\": 3, \"variant\": \"a\"}, "
                    + "\"variant\": \"b\", \"map\": null, \"new\": 1}");
                d.Rollout(1, 0, 0, 0);
                d.Result();
                Assert.AreEqual(3, session.Settings["lives"].AsInt());
                Assert.AreEqual("b", session.DesignVariant);
                Assert.AreEqual("", session.Map);
                Assert.AreEqual(1001UL, session.GameSeed);
                d.Send(2, "{\"protocol\": [1, 0], \"settings\": {\"map\": \"m2\"}, \"variant\": null}");
                d.Rollout(2, 0, 0, 0);
                d.Result();
                Assert.AreEqual("m2", session.Map);
                Assert.AreEqual("", session.DesignVariant);
                d.Send(2, "{\"protocol\": [1, 0], \"settings\": null, \"variant\": null, \"map\": null}");
                d.Rollout(3, 0, 0, 0);
                d.Result();
                Assert.AreEqual(9, session.Settings["lives"].AsInt());
                Assert.AreEqual("e", session.DesignVariant + session.Map);
            }, (s, w) => session = s, settings: "{\"lives\": 9, \"variant\": \"e\"}");
        }

        [Test]
        public void MetricsNoneFinalAndAll()
        {
            Play(d =>
            {
                d.Accept();
                d.Rollout(7, 0, 1, 0, 0, 2);
                Result none = d.Result();
                Assert.AreEqual(7UL, none.Id);
                Assert.AreEqual(0, none.Status);
                Assert.AreEqual("0/2 1/2 1/2 1/2 1/2 1/2 1/2 1/2", none.Trace);
                Assert.AreEqual("", none.Rows + none.Final + none.Message);
                d.Rollout(8, 1, 1, 0, 0, 2);
                Result final = d.Result();
                Assert.AreEqual("", final.Rows);
                Assert.AreEqual("9 0", final.Final);
                Assert.AreEqual(1.0, final.Score);
                Assert.AreNotEqual(none.Hash, final.Hash);
                d.Rollout(9, 2, 1, 0, 0, 2);
                Result all = d.Result();
                Assert.AreEqual("4 0 | 3 0 | 4 0 | 5 0 | 6 0 | 7 0 | 8 0 | 9 0", all.Rows);
                Assert.AreEqual(final.Hash, all.Hash);
            });
        }

        [Test]
        public void UniformRolloutsFollowTheirSeed()
        {
            Play(d =>
            {
                d.Accept();
                d.Rollout(5, 0, 0, 0, 1, 2);
                var random = new SplitMix64(2005);
                var expected = new List<string> { "1/2" };
                for (int i = 1; i < Walk.Steps; i++)
                    expected.Add(random.Below(2) + "/2");
                Assert.AreEqual(string.Join(" ", expected), d.Result().Trace);
            });
        }

        [Test]
        public void TruncatedWithTheScoreSoFar()
        {
            Play(d =>
            {
                d.Accept();
                d.Rollout(1, 2, 1, 0);
                Result result = d.Result();
                Assert.AreEqual(1, result.Status);
                Assert.AreEqual("1/2 1/2 1/2", result.Trace);
                Assert.AreEqual("4 0 | 5 0 | 6 0", result.Rows);
                Assert.AreEqual(70.0, result.Score);
                d.Rollout(2, 0, 1, 0);
                Assert.AreEqual(2UL, d.Result().Id);
            }, null, null, 3);
        }

        [TestCase("1/2 5/6", "1/2 5/2", "choice 5 of 6 at decision 1, the game offers 2")]
        [TestCase("2/2", "2/2", "choice 2 of 2 at decision 0, the game offers 2")]
        [TestCase("1/2 1/2 1/2 1/2 1/2 1/2 1/2 1/2 0/3", "1/2 1/2 1/2 1/2 1/2 1/2 1/2 1/2 0/0", "the game ended after 8")]
        public void IllegalPrefixSaysWhere(string prefix, string trace, string message)
        {
            var pairs = new List<int>();
            foreach (string number in prefix.Split(' ', '/'))
                pairs.Add(int.Parse(number));
            Play(d =>
            {
                d.Accept();
                d.Rollout(1, 2, 0, 0, pairs.ToArray());
                Result result = d.Result();
                Assert.AreEqual(2, result.Status);
                Assert.AreEqual(trace, result.Trace);
                StringAssert.Contains(message, result.Message);
                Assert.AreEqual(trace.Split(' ').Length, result.Rows.Split('|').Length);
                d.Rollout(2, 0, 0, 0);
                Assert.AreEqual(0, d.Result().Status);
            });
        }

        [Test]
        public void FailuresOfTheGameAreResults()
        {
            Play(d =>
            {
                d.Accept();
                d.Rollout(1, 2, 1, 0);
                Result result = d.Result();
                Assert.AreEqual(3, result.Status);
                Assert.AreEqual(0.0, result.Score);
                StringAssert.Contains("a bug at cell 9", result.Message);
                Assert.AreEqual(8, result.Trace.Split(' ').Length);
                d.Rollout(2, 0, 0, 0, 0, 2, 0, 2, 0, 2, 0, 2, 0, 2, 0, 2, 0, 2, 0, 2);
                Assert.AreEqual(0, d.Result().Status);
            }, null, w =>
            {
                if (w.At == 9)
                    throw new InvalidOperationException("a bug at cell 9 " + new string('é', 5000));
                return w.Score;
            });
        }

        [TestCase(double.NaN)]
        [TestCase(double.PositiveInfinity)]
        public void ScoresThatAreNoNumbers(double score)
        {
            Play(d =>
            {
                d.Accept();
                d.Rollout(1, 0, 0, 0);
                Result result = d.Result();
                Assert.AreEqual(3, result.Status);
                StringAssert.Contains("walk", result.Message);
            }, null, w => score);
        }

        [Test]
        public void APolicyLooksOneDecisionAhead()
        {
            Play(d =>
            {
                d.Accept();
                d.Send(5, "{\"id\": 3, \"name\": \"left\", \"kind\": \"rollout\", \"code\": [\"AT\", \"neg\", 0.5, \"*\"]}");
                d.Rollout(1, 1, 2, 3, 1, 2);
                Assert.AreEqual("1/2 0/2 0/2 0/2 0/2 0/2 0/2 0/2", d.Result().Trace);
                d.Send(5, "{\"id\": 4, \"kind\": \"tree\", \"code\": [\"XX\"]}");
                byte type;
                string error = Encoding.UTF8.GetString(d.Read(out type));
                Assert.AreEqual(9, type);
                StringAssert.Contains("XX", error);
                Assert.AreEqual("policy", JsonValue.Parse(error)["code"].AsString());
                d.Rollout(2, 1, 2, 4);
                Result refused = d.Result();
                Assert.AreEqual(3, refused.Status);
                Assert.AreEqual("", refused.Trace);
                d.Rollout(3, 0, 0, 0);
                Assert.AreEqual(0, d.Result().Status);
            }, (s, w) => s.Model = w);
        }

        [Test]
        public void AskingComesAtEachDecision()
        {
            Play(d =>
            {
                d.Accept();
                d.Rollout(ulong.MaxValue, 0, 3, 0, 1, 2);
                for (int depth = 1; depth < Walk.Steps; depth++)
                {
                    byte type;
                    JsonValue question = JsonValue.Parse(Encoding.UTF8.GetString(d.Read(out type)));
                    Assert.AreEqual(6, type);
                    Assert.AreEqual(JsonKind.String, question["id"].Kind, "JSON readers need not keep a number of that size");
                    Assert.AreEqual(ulong.MaxValue, question["id"].AsULong());
                    Assert.AreEqual(depth, question["depth"].AsInt());
                    Assert.AreEqual(2, question["count"].AsInt());
                    Assert.AreEqual(1.0, question["weights"].Items[1].AsDouble());
                    Assert.AreEqual(Math.Max(0.0, 6.0 - depth), question["metrics"].Items[0].AsDouble());
                    d.Send(8, "ping");
                    Assert.AreEqual("ping", Encoding.UTF8.GetString(d.Read(out type)));
                    d.Send(7, "{\"id\": " + (depth % 2 == 0 ? "\"18446744073709551615\"" : "18446744073709551615")
                        + ", \"choice\": 0}");
                }
                Assert.AreEqual("1/2 0/2 0/2 0/2 0/2 0/2 0/2 0/2", d.Result().Trace);
            });
        }

        [Test]
        public void APlaythroughBeginsFromAKeptState()
        {
            using (var fake = new FakeDriver())
            {
                var walk = new Walk();
                var session = new PlaytestSession("walk", "1", 100, fake.Address) { Model = walk, MostSnapshots = 2 };
                session.Abilities = Abilities.Snapshots;
                session.DeclareMetric("AT");
                var restored = new List<string>();
                var driver = new Thread(() =>
                {
                    fake.Accept();
                    ulong[,] orders = { { 0, 0, 11 }, { 11, 2, 12 }, { 12, 2, 13 }, { 11, 2, 0 }, { 13, 2, 0 } };
                    for (int i = 0; i < orders.GetLength(0); i++)
                    {
                        fake.Restore(orders[i, 0], (uint)orders[i, 1], orders[i, 2], 1, 2, 0, 2);
                        Result result = fake.Result();
                        restored.Add(result.Trace.Substring(0, 7) + " " + result.Rows.Substring(0, 9));
                    }
                    fake.Send(10, "");
                });
                driver.Start();
                session.Run(() =>
                {
                    bool back = session.TryRestore();
                    restored.Add(back ? "back at " + walk.At : "set up");
                    if (!back)
                        walk.Reset();
                    while (walk.Count > 0)
                    {
                        session.ReportMetric("AT", walk.At);
                        walk.Apply(session.Select(walk.Count));
                    }
                    session.SupplyOutcome(walk.Score);
                });
                driver.Join();
                session.Dispose();
                const string Played = "|1/2 0/2 4 | 5 | 4|";
                Assert.AreEqual("set up" + Played + "back at 4" + Played + "back at 4" + Played + "set up" + Played + "back at 4"
                    + Played, string.Join("|", restored) + "|", "the first state had to make room for the third one");
            }
        }

        /// <summary>The game that PROTOCOL.md describes: six turns of three choices, each worth below(10).</summary>
        private static void PlayThePage(PlaytestSession session)
        {
            var worth = new int[18];
            for (int i = 0; i < worth.Length; i++)
                worth[i] = session.GameRandom.Below(10);
            int sum = 0, zero = 0;
            for (int turn = 0; turn < 6; turn++)
            {
                session.ReportMetric("SUM", sum);
                session.ReportMetric("ZERO", zero);
                int gain = worth[3 * turn + session.Select(3)];
                sum += gain;
                zero += gain == 0 ? 1 : 0;
            }
            session.ReportMetric("SUM", sum);
            session.ReportMetric("ZERO", zero);
            session.SupplyOutcome(sum);
        }

        [Test]
        public void ThePlaythroughOfTheProtocolByteByByte()
        {
            var frames = new List<byte[]>();
            var bytes = new List<byte>();
            foreach (string line in (Golden.Text("unity_support", "PROTOCOL.md") + "\n```").Split('\n'))
            {
                if (System.Text.RegularExpressions.Regex.IsMatch(line, "^[0-9a-f]{4}  "))
                    foreach (string pair in line.Substring(6).Split(' '))
                        bytes.Add(Convert.ToByte(pair, 16));
                else if (bytes.Count > 0)
                {
                    frames.Add(bytes.ToArray());
                    bytes.Clear();
                }
            }
            Assert.AreEqual(3, frames.Count);
            using (var fake = new FakeDriver())
            {
                var session = new PlaytestSession("by the book", "1", 6, fake.Address);
                session.DeclareMetric("SUM");
                session.DeclareMetric("ZERO");
                var pixel = new byte[frames[2].Length - 17];
                Array.Copy(frames[2], 17, pixel, 0, pixel.Length);
                session.Draw = () => pixel;
                byte[] answer = null, picture = null, again = null;
                var types = new List<byte>();
                var driver = new Thread(() =>
                {
                    fake.Accept();
                    fake.SendRaw(frames[0]);
                    byte type;
                    answer = fake.Read(out type);
                    frames[0][29] = 6; // flags: metrics before every decision, and pictures
                    fake.SendRaw(frames[0]);
                    do
                    {
                        picture = again;
                        again = fake.Read(out type);
                        types.Add(type);
                    } while (type == 12);
                    fake.Send(10, "");
                });
                driver.Start();
                session.Run(() => PlayThePage(session));
                driver.Join();
                session.Dispose();
                for (int i = 1; i <= 4; i++)      // the microseconds, which stand last where there is no message
                    answer[answer.Length - i] = again[again.Length - i] = 0;
                CollectionAssert.AreEqual(Payload(frames[1]), answer);
                CollectionAssert.AreEqual(answer, again);
                CollectionAssert.AreEqual(new byte[] { 12, 12, 12, 12, 12, 12, 12, 4 }, types);
                CollectionAssert.AreEqual(Payload(frames[2]), picture);
            }
        }

        private static byte[] Payload(byte[] frame)
        {
            var payload = new byte[frame.Length - 5];
            Array.Copy(frame, 5, payload, 0, payload.Length);
            return payload;
        }

        [Test]
        public void ByeAndTheEndOfTheStreamEndTheGame()
        {
            Assert.IsNull(Play(d => d.Accept()));
            Assert.IsNull(Play(d =>
            {
                d.Accept();
                d.Send(10, "");
            }));
        }

        [Test]
        public void WithoutRunTheGameIsToldByAnException()
        {
            using (var fake = new FakeDriver())
            {
                var session = new PlaytestSession("walk", "1", 100, fake.Address);
                var driver = new Thread(() =>
                {
                    fake.Accept();
                    fake.Rollout(1, 0, 0, 0);
                    fake.Result();
                    fake.Dispose();
                });
                driver.Start();
                session.Connect();
                Assert.That(session.Select(3), Is.InRange(0, 2));
                session.SupplyOutcome(-5.5);
                Assert.Throws<ExperimentFinishedException>(() => session.Select(3));
                driver.Join();
                session.Dispose();
            }
        }

        [TestCase("[2, 0]", "update the game's library")]
        [TestCase("[0, 9]", "update the driver")]
        public void AnotherMajorVersionIsRefused(string version, string hint)
        {
            Exception error = Play(d =>
            {
                d.Accept("{\"protocol\": " + version + "}");
                byte type;
                string told = Encoding.UTF8.GetString(d.Read(out type));
                Assert.AreEqual(9, type);
                Assert.AreEqual("version", JsonValue.Parse(told)["code"].AsString());
            });
            StringAssert.Contains(hint, error.Message);
        }

        [Test]
        public void WhatNoDriverSendsEndsTheGameWithAnError()
        {
            byte[][] frames = { new byte[0], new byte[] { 1, 2, 3 }, new byte[70000] };
            var random = new SplitMix64(4);
            for (int round = 0; round < 60; round++)
            {
                byte[] payload = frames[random.Below(frames.Length)];
                byte kind = (byte)(random.Below(2) == 0 ? random.Below(256) : random.Below(11));
                if (kind == 10 || kind == 9 || kind == 2 || (kind == 8 && payload.Length <= 64))
                    continue;
                Assert.IsNull(Play(d =>
                {
                    d.Accept();
                    d.Send(kind, payload);
                    byte type;
                    string told = Encoding.UTF8.GetString(d.Read(out type));
                    Assert.AreEqual(9, type, "after a frame of type " + kind);
                    Assert.AreEqual("frame", JsonValue.Parse(told)["code"].AsString());
                    Assert.IsTrue(JsonValue.Parse(told)["fatal"].AsBool());
                }));
            }
        }

        [Test]
        public void MistakesOfTheGameAreTold()
        {
            var session = new PlaytestSession("x", "1", 10, new DriverAddress { Port = 1 });
            session.DeclareMetric("MS");
            Assert.Throws<ArgumentException>(() => session.DeclareMetric("MS"));
            Assert.Throws<ArgumentException>(() => session.DeclareMetric("RMAX"));
            Assert.Throws<ArgumentException>(() => session.DeclareMetric("max"));
            Assert.Throws<ArgumentException>(() => session.DeclareMetric("a b"));
            Assert.Throws<ArgumentException>(() => session.DeclareMetric("PE", "", 1, 0));
            Assert.Throws<ArgumentException>(() => session.ReportMetric("XX", 1));
            Assert.Throws<ArgumentException>(() => session.ReportMetric("MS", double.NaN));
            Assert.Throws<ArgumentException>(() => session.ReportMetric("MS", 1e39));
            Assert.Throws<ArgumentException>(() => session.ReportScore(double.NegativeInfinity));
            Assert.Throws<ArgumentException>(() => new PlaytestSession(" ", "1"));
            Assert.Throws<ArgumentOutOfRangeException>(() => new PlaytestSession("x", "1", 1000001));
            Assert.Throws<ArgumentOutOfRangeException>(() => session.Select(0));
            Assert.Throws<ArgumentOutOfRangeException>(() => session.Select(65535));
            Assert.Throws<ArgumentException>(() => session.Select(2, new[] { 1.0 }));
            Assert.Throws<ArgumentException>(() => session.Select(2, new[] { 0, 0 }));
            Assert.Throws<InvalidOperationException>(() => session.SupplyOutcome(1));
            StringAssert.Contains("127.0.0.1:1", Assert.Throws<PlaytestException>(() => session.Connect()).Message);
            for (int i = 0; i < 200; i++)
                session.DeclareMetric("M" + i, "a long name for a metric");
            StringAssert.Contains("4096", Assert.Throws<PlaytestException>(() => session.Connect()).Message);
        }

        [Test]
        public void TheEnvironmentByItsNewAndOldNames()
        {
            Assert.IsNull(DriverAddress.From(new Dictionary<string, string>()));
            var older = new Dictionary<string, string>
            {
                { "MC_ADDR", "127.0.0.2" }, { "MC_PORT", "99" }, { "MC_NONCE", "n" }, { "MC_EXP_SETTINGS", "{\"map\": \"m\"}" }
            };
            DriverAddress address = DriverAddress.From(older);
            Assert.AreEqual("127.0.0.2:99 n", address.Host + ":" + address.Port + " " + address.Nonce);
            Assert.AreEqual("m", new PlaytestSession("x", "1", 10, address).Map);
            older["PE_PORT"] = "100";
            older["PE_WORKER"] = "5";
            Assert.AreEqual(100, DriverAddress.From(older).Port);
            Assert.AreEqual(5, new PlaytestSession("x", "1", 10, DriverAddress.From(older)).Worker);
            older["PE_PORT"] = "70000";
            Assert.Throws<PlaytestException>(() => DriverAddress.From(older));
        }
    }
}
