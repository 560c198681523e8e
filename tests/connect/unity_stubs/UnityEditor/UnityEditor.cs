// Names of UnityEditor that the package uses; nothing here does anything.
using System;
using System.Collections.Generic;
using UnityEngine;

namespace UnityEditor
{
    public class EditorWindow : UnityEngine.Object
    {
        public static T GetWindow<T>(string title) where T : EditorWindow { return null; }
        public void Repaint() { }
    }

    [AttributeUsage(AttributeTargets.Method)]
    public sealed class MenuItem : Attribute
    {
        public MenuItem(string path) { }
    }

    public sealed class SceneView : EditorWindow
    {
        public static event Action<SceneView> duringSceneGui { add { } remove { } }
        public static void RepaintAll() { }
    }

    public static class EditorApplication
    {
        public delegate void CallbackFunction();
        public static CallbackFunction update, delayCall;
        public static event Action quitting { add { } remove { } }
        public static bool isPlaying;
    }

    public enum MessageType { None, Info }

    public static class EditorGUILayout
    {
        public static string TextField(string label, string text, params GUILayoutOption[] options) { return text; }
        public static int IntField(string label, int value, params GUILayoutOption[] options) { return value; }
        public static bool Toggle(string label, bool value, params GUILayoutOption[] options) { return value; }
        public static int Popup(string label, int index, string[] names, params GUILayoutOption[] options) { return index; }
        public static float Slider(string label, float value, float low, float high, params GUILayoutOption[] options) { return value; }
        public static Vector2Int Vector2IntField(string label, Vector2Int value, params GUILayoutOption[] options) { return value; }
        public static UnityEngine.Object ObjectField(string label, UnityEngine.Object o, Type type, bool scene, params GUILayoutOption[] options) { return o; }
        public static void HelpBox(string message, MessageType type) { }
    }

    /// <summary>Kept for as long as the process lives, as Unity keeps it while scripts are compiled anew.</summary>
    public static class SessionState
    {
        private static readonly Dictionary<string, object> Kept = new Dictionary<string, object>();
        public static int GetInt(string key, int otherwise) { return (int)Get(key, otherwise); }
        public static void SetInt(string key, int value) { Kept[key] = value; }
        public static void EraseInt(string key) { Kept.Remove(key); }
        public static string GetString(string key, string otherwise) { return (string)Get(key, otherwise); }
        public static void SetString(string key, string value) { Kept[key] = value; }
        public static void EraseString(string key) { Kept.Remove(key); }
        private static object Get(string key, object otherwise)
        {
            object found;
            return Kept.TryGetValue(key, out found) ? found : otherwise;
        }
    }

    [AttributeUsage(AttributeTargets.Class)]
    public sealed class FilePathAttribute : Attribute
    {
        public enum Location { PreferencesFolder, ProjectFolder }
        public FilePathAttribute(string path, Location location) { }
    }

    public class ScriptableSingleton<T> : ScriptableObject where T : ScriptableObject, new()
    {
        private static T only;
        public static T instance { get { return only ?? (only = new T()); } }
        protected void Save(bool asText) { }
    }

    public static class Handles
    {
        public static void DrawSolidRectangleWithOutline(Vector3[] corners, Color face, Color outline) { }
    }

    public enum BuildTarget { StandaloneOSX = 2, StandaloneWindows = 5, StandaloneWindows64 = 19, StandaloneLinux64 = 24 }

    [Flags]
    public enum BuildOptions { None = 0 }

    public struct BuildPlayerOptions
    {
        public string[] scenes { get; set; }
        public string locationPathName { get; set; }
        public BuildTarget target { get; set; }
        public BuildOptions options { get; set; }
        public string[] extraScriptingDefines { get; set; }
    }

    public static class BuildPipeline
    {
        /// <summary>Not Unity's: the defines of each build.</summary>
        public static readonly List<string> Built = new List<string>();
        public static Build.Reporting.BuildReport BuildPlayer(BuildPlayerOptions options)
        {
            Built.Add(string.Join("+", options.extraScriptingDefines));
            return new Build.Reporting.BuildReport();
        }
    }

    public class EditorBuildSettingsScene
    {
        public bool enabled { get; set; }
        public string path { get; set; }
    }

    public static class EditorBuildSettings
    {
        public static EditorBuildSettingsScene[] scenes { get; set; }
    }

    public static class EditorUserBuildSettings
    {
        public static BuildTarget activeBuildTarget { get { return BuildTarget.StandaloneLinux64; } }
    }
}

namespace UnityEditor.Build.Reporting
{
    public enum BuildResult { Unknown, Succeeded, Failed, Cancelled }

    public struct BuildSummary
    {
        public BuildResult result { get { return BuildResult.Unknown; } }
    }

    public sealed class BuildReport : UnityEngine.Object
    {
        public BuildSummary summary { get { return new BuildSummary(); } }
    }
}
