using System;
using System.Collections.Generic;
using System.Reflection;
using PersonaEvo.Playtest;
using UnityEngine;

/// <summary>
/// Stands in for a Unity player: makes the component and one script, and calls what Unity would call of them, frame by
/// frame, until the application quits. Exceptions of a frame are logged, as by Unity, and the next frame comes.
///
///     Player.exe play LIBRARY.dll SCRIPT MAX_DECISIONS METRIC...     SCRIPT is a type's full name
///     Player.exe describe EDITOR.dll PLAYER NAME                     the window's game.toml for a player
///     Player.exe run EDITOR.dll PROGRAM ARGUMENTS GAME OUT STOP      a run of the window, found anew at each look; STOP is
///                                                                    what it is stopped at, when that was said
///     Player.exe attach EDITOR.dll PORT TOKEN                        Play Mode twice, in a short game; the component of
///                                                                    the Editor attaches to a driver the first time
///     Player.exe press EDITOR.dll BUTTON                             a button of the window, and what it builds when
///     Player.exe picture EDITOR.dll                                  pictures of PlaytestCamera, in the render pipelines,
///                                                                    without graphics, and without the camera
/// </summary>
internal static class Player
{
    private const BindingFlags Any = BindingFlags.Instance | BindingFlags.Static | BindingFlags.Public | BindingFlags.NonPublic;

    private static int Main(string[] words)
    {
        Assembly library = Assembly.LoadFrom(words[1]);
        if (words[0] == "describe")
        {
            Type build = library.GetType("PersonaEvo.Playtest.Editor.PlaytestBuild", true);
            Console.WriteLine(build.GetMethod("Description", Any).Invoke(null, new object[] { words[2], words[3] }));
            return 0;
        }
        if (words[0] == "run")
            return Run(library.GetType("PersonaEvo.Playtest.Editor.PlaytestRun", true), words);
        if (words[0] == "attach")
            return Attach(words);
        if (words[0] == "press")
            return Press(library, words[2]);
        if (words[0] == "picture")
            return Picture();
        var component = new PlaytestBehaviour();
        var metrics = new List<PlaytestBehaviour.DeclaredMetric>();
        for (int i = 4; i < words.Length; i++)
            metrics.Add(new PlaytestBehaviour.DeclaredMetric { symbol = words[i], meaning = words[i] });
        Set(component, "metrics", metrics.ToArray());
        Set(component, "maxDecisions", int.Parse(words[3]));
        var script = (MonoBehaviour)Activator.CreateInstance(library.GetType(words[2], true));
        Call(component, "Awake");
        Call(script, "Awake");
        Call(script, "Start");
        while (!Application.HasQuit)
        {
            Call(component, "Update");
            Call(script, "Update");
        }
        Call(script, "OnDestroy");
        Call(component, "OnDestroy");
        return 0;
    }

    /// <summary>Looks at a run as the window does, which forgets it between two looks as if scripts were compiled.</summary>
    private static int Run(Type type, string[] words)
    {
        type.GetMethod("Start", Any).Invoke(null, new object[] { words[2], words[3], words[4], words[5] });
        for (object run = type.GetMethod("Find", Any).Invoke(null, null); run != null; run = type.GetMethod("Find", Any).Invoke(null, null))
        {
            var code = new object[1];
            bool ended = (bool)type.GetMethod("HasEnded", Any).Invoke(run, code);
            foreach (string line in (IList<string>)type.GetMethod("NewLines", Any).Invoke(run, null))
            {
                Console.WriteLine(line);
                if (line == words[6])
                    type.GetMethod("Stop", Any).Invoke(run, null);
            }
            if (ended)
                Console.WriteLine("ended with " + code[0]);
            System.Threading.Thread.Sleep(20);
        }
        return 0;
    }

    private static int Press(Assembly library, string button)
    {
        object window = Activator.CreateInstance(library.GetType("PersonaEvo.Playtest.Editor.PlaytestWindow", true));
        UnityEditor.EditorBuildSettings.scenes = new[] { new UnityEditor.EditorBuildSettingsScene { enabled = true, path = "One.unity" } };
        GUILayout.Pressed = button;
        window.GetType().GetMethod("OnGUI", Any).Invoke(window, null);
        Console.WriteLine("while the window is drawn: " + string.Join(" ", UnityEditor.BuildPipeline.Built));
        if (UnityEditor.EditorApplication.delayCall != null)
            UnityEditor.EditorApplication.delayCall();
        Console.WriteLine("afterwards: " + string.Join(" ", UnityEditor.BuildPipeline.Built));
        return 0;
    }

    private static int Picture()
    {
        var own = new RenderTexture();
        var camera = new PlaytestCamera { Sibling = new Camera { targetTexture = own } };
        Call(camera, "OnEnable");
        var component = new PlaytestBehaviour();
        Set(component, "metrics", new PlaytestBehaviour.DeclaredMetric[0]);
        Call(component, "Awake");
        Call(camera, "OnEnable");
        Func<byte[]> draw = component.Session.Draw;
        foreach (bool scriptable in new[] { false, true })
        {
            UnityEngine.Rendering.GraphicsSettings.currentRenderPipeline = scriptable ? new UnityEngine.Rendering.RenderPipelineAsset() : null;
            Console.WriteLine(Convert.ToBase64String(draw()));
        }
        bool isRestored = ((Camera)camera.Sibling).targetTexture == own && RenderTexture.active == null;
        Console.WriteLine("restored " + isRestored + ", held " + RenderTexture.Held + ", textures " + Texture2D.Made);
        SystemInfo.graphicsDeviceType = UnityEngine.Rendering.GraphicsDeviceType.Null;
        Console.WriteLine("without graphics " + (draw() == null));
        SystemInfo.graphicsDeviceType = UnityEngine.Rendering.GraphicsDeviceType.Vulkan;
        UnityEngine.Object.Destroy(camera);
        Console.WriteLine("without the camera " + (draw() == null));
        return 0;
    }

    /// <summary>Two choices of three in Play Mode; only the Editor's component can attach.</summary>
    private static int Attach(string[] words)
    {
        MethodInfo attach = typeof(PlaytestBehaviour).GetMethod("AttachNext", Any);
        if (attach != null)
            attach.Invoke(null, new object[] { int.Parse(words[2]), words[3] });
        for (int start = 0; start < 2; start++)
        {
            var component = new PlaytestBehaviour();
            Set(component, "metrics", new PlaytestBehaviour.DeclaredMetric[0]);
            Call(component, "Awake");
            Console.WriteLine(component.IsDriverPresent ? "attached" : "alone");
            int one, other;
            while (component.IsDriverPresent && component.BeginPlaythrough())
                if (component.TrySelect(3, out one) && component.TrySelect(3, out other))
                    component.SupplyOutcome(one + other);
            Call(component, "OnDestroy");
        }
        return 0;
    }

    private static void Set(object target, string field, object value)
    {
        target.GetType().GetField(field, Any).SetValue(target, value);
    }

    private static void Call(MonoBehaviour target, string method)
    {
        MethodInfo found = target.GetType().GetMethod(method, Any, null, Type.EmptyTypes, null);
        if (found == null)
            return;
        try
        {
            found.Invoke(target, null);
        }
        catch (TargetInvocationException e)
        {
            Console.WriteLine(e.InnerException);
            Application.Tell(e.InnerException);
        }
    }
}
