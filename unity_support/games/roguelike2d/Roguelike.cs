using System;
using System.Collections.Generic;

namespace PersonaEvo.Playtest.Games.Roguelike2d
{
    /// <summary>Who makes the decisions, and so which ones there are.</summary>
    public enum Player
    {
        /// <summary>One of four moves.</summary>
        Unrestricted,

        /// <summary>Toward the exit or away from it (weights 2 and 1), then lateral or vertical.</summary>
        Factored,

        /// <summary>North or east.</summary>
        ForwardOnly,
    }

    /// <summary>What food gives and what enemies take, in points of food, each for its first and its second kind.</summary>
    public sealed class Variant
    {
        public readonly int[] Gains;
        public readonly int[] Hurts;

        private Variant(int food, int soda, int first, int second)
        {
            Gains = new[] { food, soda };
            Hurts = new[] { first, second };
        }

        public static readonly IDictionary<string, Variant> All = new Dictionary<string, Variant>
        {
            { "default", new Variant(10, 20, 10, 20) },
            { "high_stakes", new Variant(15, 30, 15, 30) },
        };
    }

    /// <summary>
    /// The rules of 2D Roguelike, which know nothing of the driver. Its Python twin is persona_evo/games/catalog/roguelike2d,
    /// whose README.md has the rules and the order of the draws. Cells are numbered x + 8 y from the bottom left.
    /// </summary>
    public sealed class Roguelike
    {
        public const int Side = 8, Start = 0, Exit = Side * Side - 1, Way = 2 * (Side - 1);
        public const int FewestWalls = 5, MostWalls = 9, FewestItems = 1, MostItems = 5, MostEnemies = 6;
        public const int MostDays = 99, StartFood = 100, WallHits = 4;

        private static readonly double[] TowardOrAway = { 2, 1 };

        private readonly int days;
        private readonly Variant variant;
        private readonly Player player;
        private SplitMix64 random;

        private int[] walls = new int[Side * Side];
        private int[] items = new int[Side * Side];
        private List<int> wallCells, itemCells, enemies, enemyKinds;
        private bool enemiesSkip;

        /// <param name="days">Days of the level, from 1 to MostDays.</param>
        /// <param name="random">The stream of the game seed, at its start; it lays out the days and nothing else.</param>
        public Roguelike(int days, Variant variant, Player player, SplitMix64 random)
        {
            if (days < 1 || days > MostDays)
                throw new ArgumentOutOfRangeException("days", days, "from 1 to " + MostDays);
            this.days = days;
            this.variant = variant;
            this.player = player;
            this.random = random;
            Food = StartFood;
            Dawn(1);
        }

        /// <summary>The same state once more; what happens to one does not happen to the other.</summary>
        public Roguelike Copy()
        {
            var copy = (Roguelike)MemberwiseClone();
            copy.random = new SplitMix64(random.State);
            copy.walls = (int[])walls.Clone();
            copy.items = (int[])items.Clone();
            copy.enemies = new List<int>(enemies);
            return copy;
        }

        public int Day { get; private set; }
        public int Cell { get; private set; }
        public int Food { get; private set; }
        public bool Dead { get; private set; }
        public bool Won { get; private set; }
        public bool Over => Dead || Won;

        public int Survived => Day - 1 + (Won ? 1 : 0);
        public int Decisions { get; private set; }
        public int Moves { get; private set; }
        public int Eaten { get; private set; }
        public int Gained { get; private set; }
        public int Hits { get; private set; }
        public int Damage { get; private set; }
        public int Broken { get; private set; }
        public int Reward { get; private set; }

        /// <summary>How many bumps the wall in a cell still takes, 0 where there is none.</summary>
        public int WallAt(int cell) => walls[cell];

        /// <summary>What lies in a cell: 0 nothing, 1 food, 2 soda.</summary>
        public int ItemAt(int cell) => items[cell];

        public bool IsEnemyAt(int cell) => enemies.Contains(cell);

        /// <summary>What a factored player said first: 0 nothing yet, 1 toward, 2 away.</summary>
        public int Said { get; private set; }

        /// <summary>How many choices the next decision has, 0 when the game is over.</summary>
        public int Count => Over ? 0 : player == Player.Unrestricted ? 4 : 2;

        /// <summary>The weights of the next decision's choices; null where all weigh the same.</summary>
        public double[] Weights => player == Player.Factored && Said == 0 ? TowardOrAway : null;

        /// <summary>Make the next decision: a choice in [0, Count).</summary>
        public void Choose(int choice)
        {
            if (Over)
                throw new InvalidOperationException("the game is over");
            if (choice < 0 || choice >= Count)
                throw new ArgumentOutOfRangeException("choice", choice, "from 0 to " + (Count - 1));
            Decisions++;
            if (player != Player.Factored)
            {
                Move(choice);
            }
            else if (Said == 0)
            {
                Said = 1 + choice;
            }
            else
            {
                // Toward: east or north. Away: west or south.
                int direction = Said == 1 ? (choice == 0 ? 1 : 0) : (choice == 0 ? 3 : 2);
                Said = 0;
                Move(direction);
            }
        }

        private void Dawn(int day)
        {
            Day = day;
            Cell = Start;
            enemiesSkip = false;
            Array.Clear(walls, 0, walls.Length);
            Array.Clear(items, 0, items.Length);
            wallCells = new List<int>();
            itemCells = new List<int>();
            enemies = new List<int>();
            enemyKinds = new List<int>();
            var free = new List<int>();
            for (int x = 1; x < Side - 1; x++)
                for (int y = 1; y < Side - 1; y++)
                    free.Add(x + Side * y);

            for (int left = FewestWalls + random.Below(MostWalls - FewestWalls + 1); left > 0; left--)
            {
                int cell = Taken(free);
                wallCells.Add(cell);
                walls[cell] = WallHits;
            }
            for (int left = FewestItems + random.Below(MostItems - FewestItems + 1); left > 0; left--)
            {
                int cell = Taken(free);
                itemCells.Add(cell);
                items[cell] = 1 + random.Below(2);
            }
            for (int left = day; left > 1; left /= 2)
            {
                enemies.Add(Taken(free));
                enemyKinds.Add(random.Below(2));
            }
        }

        private int Taken(List<int> free)
        {
            int place = random.Below(free.Count);
            int cell = free[place];
            free.RemoveAt(place);
            return cell;
        }

        /// <summary>One attempted move (0 north, 1 east, 2 south, 3 west), and what the enemies do then.</summary>
        private void Move(int direction)
        {
            Food--;
            Moves++;
            int x = Cell % Side + (direction == 1 ? 1 : direction == 3 ? -1 : 0);
            int y = Cell / Side + (direction == 0 ? 1 : direction == 2 ? -1 : 0);
            int to = x + Side * y;
            bool moved = x >= 0 && y >= 0 && x < Side && y < Side && !enemies.Contains(to);
            if (moved && walls[to] > 0)
            {
                walls[to]--;
                moved = walls[to] == 0;
                Broken += moved ? 1 : 0;
            }
            if (moved)
                Cell = to;
            if (Food <= 0)
                Die();
            else if (!moved || !Arrive())
                EnemiesTurn();
        }

        /// <summary>Pick up what lies here; whether this is the exit, which ends the day.</summary>
        private bool Arrive()
        {
            if (items[Cell] > 0)
            {
                int gain = variant.Gains[items[Cell] - 1];
                items[Cell] = 0;
                Food += gain;
                Gained += gain;
                Eaten++;
            }
            if (Cell != Exit)
                return false;
            Reward += Food;
            if (Day == days)
                Won = true;
            else
                Dawn(Day + 1);
            return true;
        }

        private void EnemiesTurn()
        {
            bool skip = enemiesSkip;
            enemiesSkip = !enemiesSkip;
            for (int k = 0; k < enemies.Count && !skip && !Dead; k++)
            {
                int to = StepOf(enemies[k]);
                if (to == Cell)
                    Attack(variant.Hurts[enemyKinds[k]]);
                else if (walls[to] == 0 && !enemies.Contains(to))
                    enemies[k] = to;
            }
        }

        private int StepOf(int enemy)
        {
            if (enemy % Side == Cell % Side)
                return enemy + (Cell > enemy ? Side : -Side);
            return enemy + (Cell % Side > enemy % Side ? 1 : -1);
        }

        private void Attack(int hurt)
        {
            Hits++;
            Damage += hurt;
            Food = Math.Max(0, Food - hurt);
            if (Food == 0)
                Die();
        }

        private void Die()
        {
            Dead = true;
            Reward += Walked;
        }

        private int Walked => Cell % Side + Cell / Side;

        /// <summary>Every metric, in the order of <see cref="Metrics.All"/>.</summary>
        public void Measure(double[] values)
        {
            int k = 0;
            values[k++] = Decisions;
            values[k++] = Moves;
            values[k++] = Food;
            values[k++] = Survived;
            values[k++] = Won ? 1.0 : (Survived + Walked / (double)Way) / days;
            values[k++] = Eaten;
            values[k++] = Gained;
            values[k++] = Hits;
            values[k++] = Damage;
            values[k++] = Broken;
            values[k++] = Reward / (double)(StartFood * days);
            values[k++] = Dead ? 1 : 0;
            values[k++] = Won ? 1 : 0;
            values[k++] = (Way - Walked) / (double)Way;
            values[k++] = Nearest(itemCells.FindAll(cell => items[cell] > 0), 0) / (double)Way;
            values[k] = Nearest(enemies, Way) / (double)Way;
        }

        private int Nearest(List<int> cells, int none)
        {
            int best = int.MaxValue;
            foreach (int cell in cells)
                best = Math.Min(best, Math.Abs(cell % Side - Cell % Side) + Math.Abs(cell / Side - Cell / Side));
            return cells.Count == 0 ? none : best;
        }

        /// <summary>
        /// All that decides the future, as whole numbers: day, cell, food, whether the enemies skip, what was said, a bit
        /// for each item that is there, the bumps that each wall still takes (MostWalls), the enemies' cells (MostEnemies).
        /// </summary>
        public int[] State()
        {
            var state = new int[6 + MostWalls + MostEnemies];
            int there = 0;
            for (int k = 0; k < itemCells.Count; k++)
                there |= items[itemCells[k]] > 0 ? 1 << k : 0;
            new[] { Day, Cell, Food, enemiesSkip ? 1 : 0, Said, there }.CopyTo(state, 0);
            for (int k = 0; k < wallCells.Count; k++)
                state[6 + k] = walls[wallCells[k]];
            enemies.CopyTo(state, 6 + MostWalls);
            return state;
        }

        /// <summary>What tells two states of one game apart: all that decides the future, and the reward so far.</summary>
        public ulong Hash()
        {
            ulong hash = Fnv.Add(Fnv.Start, (ulong)Reward);
            hash = Fnv.Add(hash, Dead ? 2UL : Won ? 1UL : 0UL, 1);
            foreach (int number in State())
                hash = Fnv.Add(hash, (ulong)number, 4);
            return hash;
        }
    }
}
