using System;
using System.Globalization;

namespace PersonaEvo.Playtest
{
    /// <summary>The part of the session that talks to the driver (PROTOCOL.md).</summary>
    public sealed partial class PlaytestSession
    {
        private readonly float[] nothing = new float[0];

        private string Hello()
        {
            var json = new JsonWriter().BeginObject();
            json.Name("magic").Value(Protocol.Magic);
            json.Name("protocol").BeginArray().Value(Protocol.Major).Value(Protocol.Minor).EndArray();
            json.Name("library").Value(Protocol.Library);
            json.Name("game").BeginObject().Name("name").Value(Game).Name("version").Value(Version).EndObject();
            json.Name("nonce").Value(address.Nonce);
            json.Name("capabilities").BeginArray();
            if ((Abilities & Abilities.Seed) != 0)
                json.Value("seed");
            if ((Abilities & Abilities.Weights) != 0)
                json.Value("weights");
            if (Model != null)
                json.Value("lookahead");
            if ((Abilities & Abilities.Hash) != 0)
                json.Value("hash");
            if ((Abilities & Abilities.Maps) != 0)
                json.Value("maps");
            if (Model != null && (Abilities & Abilities.Snapshots) != 0)
                json.Value("snapshot");
            if (Draw != null)
                json.Value("pictures");
            json.EndArray().Name("metrics").BeginArray();
            foreach (MetricInfo m in metrics.Infos)
            {
                json.BeginObject().Name("name").Value(m.Name).Name("symbol").Value(m.Symbol);
                json.Name("low").Value(m.Low).Name("high").Value(m.High).EndObject();
            }
            json.EndArray().Name("max_decisions").Value(MaxDecisions);
            return json.EndObject().ToString();
        }

        private void Welcome()
        {
            FrameReader payload;
            FrameType type;
            do
            {
                type = link.Receive(out payload);
                if (type == FrameType.Ping)
                    Pong(ref payload);
            } while (type == FrameType.Ping);
            if (type == FrameType.Error)
                throw new PlaytestException("the driver refuses the game: "
                    + JsonValue.Parse(payload.Text())["message"].AsString());
            if (type != FrameType.Welcome)
                throw new PlaytestException("the driver answered the greeting by a frame of type " + (int)type
                    + ", expected WELCOME");
            JsonValue welcome = JsonValue.Parse(payload.Text());
            JsonValue version = welcome["protocol"];
            int major = version.Items.Count > 0 ? version.Items[0].AsInt(-1) : -1;
            if (major != Protocol.Major)
            {
                string update = major > Protocol.Major ? "update the game's library" : "update the driver";
                string message = "the driver speaks protocol " + major + ", this library " + Protocol.Major + "."
                    + Protocol.Minor + "; " + update;
                SendError("version", message, true);
                throw new PlaytestException(message);
            }
            TakeSettings(welcome);
        }

        /// <summary>
        /// Takes the settings of WELCOME, or those of the environment if it has none. Variant and map of WELCOME count before
        /// those in the settings.
        /// </summary>
        private void TakeSettings(JsonValue welcome)
        {
            JsonValue settings = welcome["settings"];
            Settings = settings.Kind == JsonKind.Object ? settings : given.Kind == JsonKind.Object ? given : JsonValue.Null;
            DesignVariant = welcome["variant"].AsString(Settings["variant"].AsString());
            Map = welcome["map"].AsString(Settings["map"].AsString());
        }

        private void AwaitRollout()
        {
            FrameReader payload;
            while (true)
            {
                FrameType type = Receive(out payload);
                if (type == FrameType.Policy)
                {
                    TakePolicy(payload.Text());
                    continue;
                }
                if (type == FrameType.Welcome)
                {
                    TakeSettings(Json(payload.Text()));
                    snapshots.Clear();
                    continue;
                }
                if (type != FrameType.Rollout && type != FrameType.Restore)
                    throw Refuse("a frame of type " + (int)type
                        + " came, expected ROLLOUT, RESTORE, POLICY, WELCOME, PING or BYE");
                try
                {
                    rollout.Read(ref payload, type == FrameType.Restore);
                }
                catch (PlaytestException e)
                {
                    throw Refuse(e.Message);
                }
                string why = WhyNot();
                if (why == null)
                    return;
                trace.Clear();
                metrics.Clear();
                hashed = false;
                clock.Restart();
                Finish(PlaythroughStatus.Exception, why);
            }
        }

        /// <summary>Waits for the next frame other than PING and ERRORs that are not fatal.</summary>
        private FrameType Receive(out FrameReader payload)
        {
            while (true)
            {
                FrameType type;
                try
                {
                    type = link.Receive(out payload);
                }
                catch (ExperimentFinishedException)
                {
                    throw;
                }
                catch (PlaytestException e)
                {
                    throw Refuse(e.Message);
                }
                if (type == FrameType.Ping)
                    Pong(ref payload);
                else if (type == FrameType.Error)
                    Heed(payload.Text());
                else if (type == FrameType.Bye)
                    throw new ExperimentFinishedException("the driver has no more orders");
                else
                    return type;
            }
        }

        private void Heed(string text)
        {
            JsonValue error = Json(text);
            string message = "the driver reports: " + error["message"].AsString("an error");
            if (error["fatal"].AsBool(true))
                throw new ExperimentFinishedException(message);
            Tell(message);
        }

        private void Pong(ref FrameReader payload)
        {
            if (payload.Left > Protocol.MostPing)
                throw Refuse("a PING of " + payload.Left + " bytes, expected at most " + Protocol.MostPing);
            link.Out.Begin(FrameType.Ping);
            while (payload.Left > 0)
                link.Out.U8(payload.U8());
            link.Send();
        }

        private void TakePolicy(string text)
        {
            JsonValue json = Json(text);
            uint id = (uint)json["id"].AsULong();
            try
            {
                policies[id] = new SentPolicy(json, Symbols);
            }
            catch (FormulaException e)
            {
                policies.Remove(id);
                SendError("policy", "policy " + id + ": " + e.Message, false);
            }
        }

        private JsonValue Json(string text)
        {
            try
            {
                return JsonValue.Parse(text);
            }
            catch (JsonException e)
            {
                throw Refuse(e.Message);
            }
        }

        /// <summary>Returns why the rollout cannot be played, or null if it can.</summary>
        private string WhyNot()
        {
            if (rollout.Rule != ChoiceRule.Policy)
                return null;
            if (Model == null)
                return Game + " cannot look ahead (it sets no Model), so mode 2 does not work";
            return policies.ContainsKey(rollout.Policy) ? null : "policy " + rollout.Policy + " was not sent, or was refused";
        }

        private int Prescribed(int depth, int count)
        {
            int choice = rollout.PrefixChoice(depth), expected = rollout.PrefixCount(depth);
            Record(choice, count);
            if (expected == count && choice < count)
                return choice;
            throw End(PlaythroughStatus.IllegalPrefix, "the prefix has choice " + choice + " of " + expected + " at decision "
                + depth + ", the game offers " + count, "at decision " + depth);
        }

        /// <summary>Reports that the game ended before the prefix. Its next choice ends the trace, with a count of 0.</summary>
        private void PrefixLeft()
        {
            int depth = trace.Count;
            Record(rollout.PrefixChoice(depth), 0);
            Finish(PlaythroughStatus.IllegalPrefix, "the prefix has " + rollout.Length + " choices, the game ended after "
                + depth);
        }

        /// <summary>Records a choice and, if they are wanted, the metrics before it.</summary>
        private void Record(int choice, int count)
        {
            if (rollout.Metrics == MetricsWanted.EveryDecision)
                trace.AddRow(metrics.Values);
            trace.Add(choice, count);
        }

        private int ByRule(int count, double[] weights)
        {
            switch (rollout.Rule)
            {
                case ChoiceRule.Weighted:
                    return weights != null ? choices.Weighted(weights) : choices.Below(count);
                case ChoiceRule.Policy:
                    return LookAhead(policies[rollout.Policy], count);
                case ChoiceRule.Ask:
                    return Ask(count, weights);
                default:
                    return choices.Below(count);
            }
        }

        private int LookAhead(SentPolicy policy, int count)
        {
            if (Model.Count != count)
                throw new InvalidOperationException("Model offers " + Model.Count + " choices where the game offers " + count);
            var kept = (float[])metrics.Values.Clone();
            int choice = Lookahead.Best(Model, policy.Scorer, trace.Count, true);
            Array.Copy(kept, metrics.Values, kept.Length);
            return choice;
        }

        private int Ask(int count, double[] weights)
        {
            var json = new JsonWriter().BeginObject().Name("id");
            if (rollout.Id > Protocol.MostJsonInteger)
                json.Value(rollout.Id.ToString(CultureInfo.InvariantCulture));
            else
                json.Value(rollout.Id);
            json.Name("depth").Value(trace.Count).Name("count").Value(count).Name("weights");
            Numbers(json, weights);
            json.Name("metrics").BeginArray();
            foreach (float value in metrics.Values)
                json.Value((double)value);
            link.SendText(FrameType.Decide, json.EndArray().EndObject().ToString());
            FrameReader payload;
            FrameType type = Receive(out payload);
            if (type != FrameType.Choice)
                throw Refuse("a frame of type " + (int)type + " came where CHOICE was expected");
            JsonValue answer = Json(payload.Text());
            int choice = answer["choice"].AsInt(-1);
            if (answer["id"].AsULong(ulong.MaxValue) != rollout.Id || choice < 0 || choice >= count)
                throw Refuse("a CHOICE that does not answer the question of rollout " + rollout.Id + " with " + count
                    + " choices");
            return choice;
        }

        private static void Numbers(JsonWriter json, double[] values)
        {
            if (values == null)
            {
                json.Value((string)null);
                return;
            }
            json.BeginArray();
            foreach (double value in values)
                json.Value(value);
            json.EndArray();
        }

        private PlaythroughEndedException End(PlaythroughStatus status, string message, string where)
        {
            Finish(status, message);
            return new PlaythroughEndedException("the playthrough ends " + where + "; start the next one");
        }

        private void Finish(PlaythroughStatus status, string message)
        {
            playing = false;
            float[] final = rollout.Metrics == MetricsWanted.None ? nothing : metrics.Values;
            long cells = rollout.Metrics == MetricsWanted.EveryDecision ? (long)trace.Rows * final.Length : 0;
            if (4L * trace.Count + 4L * cells + 4L * final.Length + Protocol.MostMessage + 64 > Protocol.MostPayload)
            {
                status = PlaythroughStatus.Exception;
                message = trace.Count + " decisions with " + final.Length + " metrics do not fit into a frame";
                trace.Clear();
            }
            bool counts = status != PlaythroughStatus.Exception && Finite(lastScore);
            FrameWriter o = link.Out;
            o.Begin(FrameType.Result);
            o.U64(rollout.Id);
            o.U8((byte)status);
            o.F64(counts ? lastScore : 0.0);
            o.U32((uint)trace.Count);
            trace.WritePairs(o);
            o.U32((uint)trace.Rows);
            o.U16(final.Length);
            trace.WriteRows(o);
            foreach (float value in final)
                o.F32(value);
            o.U64(hashed ? stateHash : trace.Hash(final));
            o.U32((uint)Math.Min(uint.MaxValue, clock.ElapsedTicks * (1000000.0 / System.Diagnostics.Stopwatch.Frequency)));
            o.Text(message, Protocol.MostMessage);
            link.Send();
        }

        private ExperimentFinishedException Refuse(string what)
        {
            SendError("frame", what, true);
            link.Dispose();
            return new ExperimentFinishedException("the driver does not keep to the protocol: " + what);
        }

        private void SendError(string code, string message, bool fatal)
        {
            var json = new JsonWriter().BeginObject().Name("code").Value(code).Name("message").Value(message);
            link.SendText(FrameType.Error, json.Name("fatal").Value(fatal).EndObject().ToString());
        }
    }
}
