// What the other scripts of the tutorial game are called by.
using UnityEngine;

public class BoardManager : MonoBehaviour
{
    public void SetupScene(int level) { }
}

public class Enemy : MovingObject
{
    public void MoveEnemy() { AttemptMove<Player>(0, 1); }

    protected override void OnCantMove<T>(T component)
    {
        Player hitPlayer = component as Player;
        hitPlayer.LoseFood(10);
    }
}

public class Wall : MonoBehaviour
{
    public void DamageWall(int loss) { }
}

public class SoundManager : MonoBehaviour
{
    public static SoundManager instance = null;
    public void RandomizeSfx() { }
}
