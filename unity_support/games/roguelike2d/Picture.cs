namespace PersonaEvo.Playtest.Games.Roguelike2d
{
    /// <summary>Draws a day of the game as coloured tiles, with the food that is left below them.</summary>
    internal static class Picture
    {
        private const int Tile = 16, Width = Roguelike.Side * Tile, Bar = 8, Height = Width + Bar;
        private const int Floor = 0xE8DCC8, Exit = 0x3A7D44, Wall = 0x6B4F3A, Food = 0x2E9E5B, Soda = 0x2F7FD1;
        private const int Enemy = 0xB3261E, Player = 0xF2B705, Dead = 0x404040, Empty = 0xD0D0D0;

        /// <summary>Returns the picture as a PNG file.</summary>
        public static byte[] Of(Roguelike game)
        {
            var rgb = new byte[3 * Width * Height];
            for (int cell = 0; cell < Roguelike.Side * Roguelike.Side; cell++)
            {
                int x = cell % Roguelike.Side * Tile, y = (Roguelike.Side - 1 - cell / Roguelike.Side) * Tile;
                Fill(rgb, x, y, Tile, Tile, cell == Roguelike.Exit ? Exit : Floor);
                int inside = Inside(game, cell);
                if (inside >= 0)
                    Fill(rgb, x + 2, y + 2, Tile - 4, Tile - 4, inside);
            }
            int left = System.Math.Min(Width, Width * game.Food / Roguelike.StartFood);
            Fill(rgb, 0, Width, Width, Bar, Empty);
            Fill(rgb, 0, Width, left, Bar, Food);
            return Png.Encode(Width, Height, rgb);
        }

        /// <summary>The colour of what stands or lies in a cell, -1 for nothing.</summary>
        private static int Inside(Roguelike game, int cell)
        {
            if (cell == game.Cell)
                return game.Dead ? Dead : Player;
            if (game.IsEnemyAt(cell))
                return Enemy;
            if (game.WallAt(cell) > 0)
                return Wall;
            int item = game.ItemAt(cell);
            return item == 0 ? -1 : item == 1 ? Food : Soda;
        }

        private static void Fill(byte[] rgb, int left, int top, int width, int height, int colour)
        {
            for (int y = top; y < top + height; y++)
                for (int x = left; x < left + width; x++)
                {
                    int at = 3 * (y * Width + x);
                    rgb[at] = (byte)(colour >> 16);
                    rgb[at + 1] = (byte)(colour >> 8);
                    rgb[at + 2] = (byte)colour;
                }
        }
    }
}
