using System;

namespace PersonaEvo.Playtest
{
    /// <summary>The part of the session that sends pictures of the game (PICTURE of PROTOCOL.md).</summary>
    public sealed partial class PlaytestSession
    {
        /// <summary>
        /// Returns a picture of the present state as a PNG file of at most 1 MiB and 2,048 pixels in each direction, or null
        /// where there is nothing to show. Set before Connect, it lets reports of playtests show film strips. It is called
        /// for the few playthroughs that a report shows. Png makes such files without Unity.
        /// </summary>
        public Func<byte[]> Draw { get; set; }

        /// <summary>Sends a picture if the driver asks for pictures.</summary>
        private void Show()
        {
            byte[] png = rollout.Pictures && Draw != null ? Draw() : null;
            if (png == null)
                return;
            if (png.Length > Protocol.MostPicture)
                throw new InvalidOperationException("a picture of " + png.Length + " bytes, expected at most "
                    + Protocol.MostPicture);
            link.Out.Begin(FrameType.Picture);
            link.Out.U64(rollout.Id);
            link.Out.U32((uint)trace.Count);
            link.Out.Raw(png, 0, png.Length);
            link.Send();
        }
    }
}
