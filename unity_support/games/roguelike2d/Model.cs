namespace PersonaEvo.Playtest.Games.Roguelike2d
{
    /// <summary>The game of the present playthrough as something to try out, for policies that look a decision ahead.</summary>
    public sealed class Model : IWeightedModel
    {
        public Roguelike Game { get; private set; }

        /// <summary>Begin a playthrough.</summary>
        public void Start(Roguelike game)
        {
            Game = game;
        }

        public int Count => Game.Count;

        public double[] Weights() => Game.Weights;

        public double Score => Game.Reward;

        public void Apply(int choice)
        {
            Game.Choose(choice);
        }

        /// <summary>The metrics of <see cref="Metrics.All"/>, then the column and the row from the top.</summary>
        public void Measure(double[] values)
        {
            Game.Measure(values);
            values[Metrics.All.Length] = Game.Cell % Roguelike.Side;
            values[Metrics.All.Length + 1] = Roguelike.Side - 1 - Game.Cell / Roguelike.Side;
        }

        public object Save() => Game.Copy();

        public void Restore(object state)
        {
            Game = ((Roguelike)state).Copy();
        }
    }
}
