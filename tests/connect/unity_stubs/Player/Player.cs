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
