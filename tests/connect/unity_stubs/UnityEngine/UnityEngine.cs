// Names of UnityEngine that the package and its guide use; nothing here does anything.
using System;
using System.Collections;

namespace UnityEngine
{
    public class Object
    {
        private bool destroyed;
        public static void Destroy(Object o) { o.destroyed = true; }
        public static void DontDestroyOnLoad(Object o) { }
        public static implicit operator bool(Object o) { return (object)o != null && !o.destroyed; }
    }

    public class ScriptableObject : Object { }

    public class Component : Object
    {
        public GameObject gameObject;
        public Transform transform;
        /// <summary>Not Unity's: the other component of the object.</summary>
        public object Sibling;
        public T GetComponent<T>() { return Sibling is T ? (T)Sibling : default(T); }
    }

    public class Behaviour : Component
    {
        public bool enabled;
    }

    public class MonoBehaviour : Behaviour
    {
        public Coroutine StartCoroutine(IEnumerator routine) { return null; }
        public void StopAllCoroutines() { }
        public void Invoke(string method, float seconds) { }
    }

    public class GameObject : Object
    {
        public string tag;
        public void SetActive(bool active) { }
        public T GetComponent<T>() { return default(T); }
    }

    public class Transform : Component
    {
        public Vector3 position;
    }

    public class Coroutine { }

    public class TextAsset : Object
    {
        public string text { get { return ""; } }
    }

    public enum LogType { Error, Assert, Warning, Log, Exception }

    public static class Application
    {
        public delegate void LogCallback(string condition, string stackTrace, LogType type);
        public static event LogCallback logMessageReceived;
        public static bool runInBackground;
        public static int targetFrameRate;
        public static string productName { get { return "stub"; } }
        public static string version { get { return "1"; } }
        /// <summary>Not Unity's: whether Quit was called.</summary>
        public static bool HasQuit { get; private set; }
        public static void Quit() { HasQuit = true; }
        /// <summary>Not Unity's: what becomes of an exception of a script.</summary>
        public static void Tell(Exception e)
        {
            if (logMessageReceived != null)
                logMessageReceived(e.Message, e.StackTrace, LogType.Exception);
        }
    }

    public static class QualitySettings
    {
        public static int vSyncCount;
    }

    public static class Debug
    {
        public static void Log(object message) { }
        public static void LogWarning(object message) { Console.WriteLine(message); }
        public static void LogWarning(object message, Object context) { LogWarning(message); }
    }

    public static class Random
    {
        private static System.Random random = new System.Random(0);
        public static void InitState(int seed) { random = new System.Random(seed); }
        public static int Range(int low, int high) { return random.Next(low, high); }
    }

    public struct Vector2
    {
        public float x, y;
        public Vector2(float x, float y) { this.x = x; this.y = y; }
        public static Vector2 operator +(Vector2 a, Vector2 b) { return a; }
        public static implicit operator Vector2(Vector3 v) { return new Vector2(v.x, v.y); }
        public static implicit operator Vector3(Vector2 v) { return new Vector3(); }
    }

    public struct Vector2Int
    {
        public int x, y;
    }

    public struct Vector3
    {
        public float x, y, z;
    }

    public struct Vector3Int
    {
        public int x, y, z;
        public Vector3Int(int x, int y, int z) { this.x = x; this.y = y; this.z = z; }
        public static Vector3Int operator +(Vector3Int a, Vector3Int b) { return a; }
    }

    public struct Color
    {
        public Color(float r, float g, float b, float a) { }
        public static Color clear { get { return new Color(); } }
    }

    public struct Color32
    {
        public byte r, g, b, a;
    }

    public struct Rect
    {
        public Rect(float x, float y, float width, float height) { }
    }

    public class Texture : Object { }

    public class RenderTexture : Texture
    {
        public static RenderTexture active;
        /// <summary>Not Unity's: how many were not released.</summary>
        public static int Held;
        public static RenderTexture GetTemporary(int width, int height, int depthBuffer)
        {
            Held++;
            return new RenderTexture();
        }
        public static void ReleaseTemporary(RenderTexture texture) { Held--; }
    }

    public enum TextureFormat { RGB24 }

    public class Texture2D : Texture
    {
        /// <summary>Not Unity's: how many were made.</summary>
        public static int Made;
        private readonly int size;
        public Texture2D(int width, int height, TextureFormat format, bool mipChain)
        {
            size = width * height;
            Made++;
        }
        public void ReadPixels(Rect source, int x, int y)
        {
            if (RenderTexture.active != Camera.Drawn)
                throw new InvalidOperationException("nothing was drawn here");
        }
        /// <summary>Not Unity's: the red of each pixel is its number from the bottom left.</summary>
        public Color32[] GetPixels32()
        {
            var pixels = new Color32[size];
            for (int i = 0; i < size; i++)
                pixels[i].r = (byte)i;
            return pixels;
        }
    }

    public class Camera : Behaviour
    {
        public RenderTexture targetTexture;
        /// <summary>Not Unity's: where a camera or a pipeline drew last.</summary>
        public static RenderTexture Drawn;
        public void Render()
        {
            Drawn = targetTexture;
            Console.WriteLine("drawn by the camera");
        }
    }

    public static class SystemInfo
    {
        public static Rendering.GraphicsDeviceType graphicsDeviceType;
    }

    public class GUILayoutOption { }

    public static class GUILayout
    {
        /// <summary>Not Unity's: the button that is pressed.</summary>
        public static string Pressed;
        public static bool Button(string text, params GUILayoutOption[] options) { return text == Pressed; }
        public static void Label(string text, params GUILayoutOption[] options) { }
    }

    public class Collider2D : Behaviour
    {
        public string tag;
    }

    public class BoxCollider2D : Collider2D { }

    public class Rigidbody2D : Component
    {
        public void MovePosition(Vector2 position) { }
    }

    public struct RaycastHit2D
    {
        public Transform transform;
    }

    public struct LayerMask
    {
        public static implicit operator int(LayerMask mask) { return 0; }
    }

    public enum SimulationMode2D { FixedUpdate, Update, Script }

    public class WaitForSeconds
    {
        public WaitForSeconds(float seconds) { }
    }

    public static class Time
    {
        public static float fixedDeltaTime { get { return 0.02f; } }
    }

    public static class Input
    {
        public static float GetAxisRaw(string axis) { return 0f; }
    }

    public static class Physics2D
    {
        public static SimulationMode2D simulationMode;
        public static bool Simulate(float step) { return true; }
        public static RaycastHit2D Linecast(Vector2 from, Vector2 to, int mask) { return new RaycastHit2D(); }
        public static void SyncTransforms() { }
    }

    [AttributeUsage(AttributeTargets.Field)]
    public sealed class SerializeField : Attribute { }

    [AttributeUsage(AttributeTargets.Field)]
    public sealed class TooltipAttribute : Attribute
    {
        public TooltipAttribute(string text) { }
    }

    [AttributeUsage(AttributeTargets.Class)]
    public sealed class DisallowMultipleComponent : Attribute { }

    [AttributeUsage(AttributeTargets.Class)]
    public sealed class RequireComponent : Attribute
    {
        public RequireComponent(Type component) { }
    }

    [AttributeUsage(AttributeTargets.Field)]
    public sealed class RangeAttribute : Attribute
    {
        public RangeAttribute(float low, float high) { }
    }

    [AttributeUsage(AttributeTargets.Class)]
    public sealed class DefaultExecutionOrder : Attribute
    {
        public DefaultExecutionOrder(int order) { }
    }

    [AttributeUsage(AttributeTargets.Class)]
    public sealed class AddComponentMenu : Attribute
    {
        public AddComponentMenu(string menu) { }
    }
}

namespace UnityEngine.Rendering
{
    public enum GraphicsDeviceType { Vulkan, Null = 4 }

    public class RenderPipelineAsset : ScriptableObject { }

    public static class GraphicsSettings
    {
        public static RenderPipelineAsset currentRenderPipeline;
    }

    public abstract class RenderPipeline
    {
        public class StandardRequest
        {
            public RenderTexture destination;
        }

        public static bool SupportsRenderRequest<T>(Camera camera, T data) { return true; }

        public static void SubmitRenderRequest<T>(Camera camera, T data)
        {
            Camera.Drawn = ((StandardRequest)(object)data).destination;
            Console.WriteLine("drawn by the pipeline");
        }
    }
}

namespace UnityEngine.Tilemaps
{
    public class Tilemap : Behaviour
    {
        public Vector3 CellToWorld(Vector3Int cell) { return new Vector3(); }
    }
}

namespace UnityEngine.SceneManagement
{
    public enum LoadSceneMode { Single }

    public struct Scene
    {
        public int buildIndex { get { return 0; } }
    }

    public static class SceneManager
    {
        public static Scene GetActiveScene() { return new Scene(); }
        public static void LoadScene(int index, LoadSceneMode mode) { }
    }
}
