using System;

namespace PersonaEvo.Playtest
{
    /// <summary>Something that a designer or the driver got wrong; the message says what was found and what to do.</summary>
    public class PlaytestException : Exception
    {
        public PlaytestException(string message) : base(message) { }
        public PlaytestException(string message, Exception cause) : base(message, cause) { }
    }

    /// <summary>The driver is done or gone: the game quits. Thrown by Select and BeginPlaythrough.</summary>
    public sealed class ExperimentFinishedException : PlaytestException
    {
        public ExperimentFinishedException(string message) : base(message) { }
    }

    /// <summary>
    /// This playthrough is over before the game is, and its result is sent: the game starts the next one.
    /// Thrown by Select after the most decisions that the game declared, or where the driver's choices do not fit.
    /// </summary>
    public sealed class PlaythroughEndedException : PlaytestException
    {
        public PlaythroughEndedException(string message) : base(message) { }
    }

    /// <summary>A text is no formula, or names what is not there. Line and Column count from 1, 0 where there are none.</summary>
    public sealed class FormulaException : PlaytestException
    {
        public FormulaException(string message, int line = 0, int column = 0)
            : base(line > 0 ? "formula, line " + line + ", column " + column + ": " + message : "formula: " + message)
        {
            Line = line;
            Column = column;
        }

        internal FormulaException(string what, FormulaException cause) : base(what + ": " + cause.Message, cause)
        {
            Line = cause.Line;
            Column = cause.Column;
        }

        public int Line { get; private set; }
        public int Column { get; private set; }
    }

    /// <summary>A text is not JSON, or a value in it is not what is needed.</summary>
    public sealed class JsonException : PlaytestException
    {
        public JsonException(string message) : base(message) { }
    }
}
