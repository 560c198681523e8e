using UnityEngine;
using UnityEngine.Rendering;

namespace PersonaEvo.Playtest
{
    /// <summary>
    /// Draws the pictures for the film strips of reports. Put it on the camera of the first scene, and on those of later
    /// scenes, too; the camera that appeared last draws. It costs nothing where the driver asks for no pictures.
    /// </summary>
    [DefaultExecutionOrder(-9999)]
    [RequireComponent(typeof(Camera))]
    [DisallowMultipleComponent]
    [AddComponentMenu("Persona Evo/Playtest Camera")]
    public sealed class PlaytestCamera : MonoBehaviour
    {
        [SerializeField, Tooltip("Size of a picture in pixels; reports show 320 at most")]
        private int width = 320, height = 180;

        private void Awake()
        {
            if (PlaytestBehaviour.Instance != null)
                PlaytestBehaviour.Instance.Session.Draw = Capture;
        }

        /// <summary>Returns what the camera sees as a PNG file; null if there is no camera any more, or no graphics.</summary>
        private byte[] Capture()
        {
            if (!this || SystemInfo.graphicsDeviceType == GraphicsDeviceType.Null)
                return null;
            var lens = GetComponent<Camera>();
            RenderTexture before = lens.targetTexture, active = RenderTexture.active;
            RenderTexture target = RenderTexture.GetTemporary(width, height, 24);
            var image = new Texture2D(width, height, TextureFormat.RGB24, false);
            try
            {
                lens.targetTexture = target;
                lens.Render();
                RenderTexture.active = target;
                image.ReadPixels(new Rect(0f, 0f, width, height), 0, 0);
                return Png.Encode(width, height, FromTheTop(image.GetPixels32()));
            }
            finally
            {
                lens.targetTexture = before;
                RenderTexture.active = active;
                RenderTexture.ReleaseTemporary(target);
                Destroy(image);
            }
        }

        /// <summary>Returns the colours of pixels row by row from the top; Unity has them from the bottom.</summary>
        private byte[] FromTheTop(Color32[] pixels)
        {
            var rgb = new byte[3 * pixels.Length];
            for (int i = 0; i < pixels.Length; i++)
            {
                int at = 3 * ((height - 1 - i / width) * width + i % width);
                rgb[at] = pixels[i].r;
                rgb[at + 1] = pixels[i].g;
                rgb[at + 2] = pixels[i].b;
            }
            return rgb;
        }
    }
}
