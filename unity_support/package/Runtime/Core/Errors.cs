using System;

namespace PersonaEvo.Playtest
{
    /// <summary>A mistake of a designer or of the driver. The message says what was found and what to do.</summary>
    public class PlaytestException : Exception
    {
        /// <summary>With a message.</summary>
        public PlaytestException(string message) : base(message) { }
        /// <summary>With a message and its cause.</summary>
        public PlaytestException(string message, Exception cause) : base(message, cause) { }
    }

    /// <summary>The driver has finished or is gone, and the game should quit. Select and BeginPlaythrough throw this.</summary>
    public sealed class ExperimentFinishedException : PlaytestException
    {
        /// <summary>With a message.</summary>
        public ExperimentFinishedException(string message) : base(message) { }
    }

    /// <summary>
    /// This playthrough has ended before the game did, and its result has been sent. The game starts the next one. Select
    /// throws this after as many decisions as the game declared, and if the driver's choices do not fit.
    /// </summary>
    public sealed class PlaythroughEndedException : PlaytestException
    {
        /// <summary>With a message.</summary>
        public PlaythroughEndedException(string message) : base(message) { }
    }

    /// <summary>A text is not a formula, or names an unknown symbol. Line and Column count from 1; 0 means unknown.</summary>
    public sealed class FormulaException : PlaytestException
    {
        /// <summary>With a message and a place.</summary>
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

        /// <summary>The line of the text.</summary>
        public int Line { get; private set; }
        /// <summary>The column in that line.</summary>
        public int Column { get; private set; }
    }

    /// <summary>A text is not JSON, or a value in it has the wrong type.</summary>
    public sealed class JsonException : PlaytestException
    {
        /// <summary>With a message.</summary>
        public JsonException(string message) : base(message) { }
    }
}
