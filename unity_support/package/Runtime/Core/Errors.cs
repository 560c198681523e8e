using System;

namespace PersonaEvo.Playtest
{
    /// <summary>A mistake of a designer or of the driver. The message says what was found and what to do.</summary>
    public class PlaytestException : Exception
    {
        public PlaytestException(string message) : base(message) { }
        public PlaytestException(string message, Exception cause) : base(message, cause) { }
    }

    /// <summary>The driver has finished or is gone, and the game should quit. Select and BeginPlaythrough throw this.</summary>
    public sealed class ExperimentFinishedException : PlaytestException
    {
        public ExperimentFinishedException(string message) : base(message) { }
    }

    /// <summary>
    /// This playthrough has ended before the game did, and its result has been sent. The game starts the next one. Select
    /// throws this after as many decisions as the game declared, and if the driver's choices do not fit.
    /// </summary>
    public sealed class PlaythroughEndedException : PlaytestException
    {
        public PlaythroughEndedException(string message) : base(message) { }
    }

    /// <summary>A text is not a formula, or names an unknown symbol. Line and Column count from 1; 0 means unknown.</summary>
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

    /// <summary>A text is not JSON, or a value in it has the wrong type.</summary>
    public sealed class JsonException : PlaytestException
    {
        public JsonException(string message) : base(message) { }
    }
}
