using UnityEngine;
using UnityEngine.Rendering;

namespace PersonaEvo.Playtest
{
    /// <summary>
    /// Draws the pictures for the film strips of reports. Put it on the camera of the first scene, and on those of later
    /// scenes, too; the camera that was enabled last draws. It costs nothing where the driver asks for no pictures.
    /// </summary>
    [DefaultExecutionOrder(-9999)]
    [RequireComponent(typeof(Camera))]
    [DisallowMultipleComponent]
    [AddComponentMenu("Persona Evo/Playtest Camera")]
    public sealed class PlaytestCamera : MonoBehaviour
    {
        [SerializeField, Range(1, 2048), Tooltip("Size of a picture in pixels; reports show 320 at most")]
        private int width = 320, height = 180;

        private Texture2D image;

        private void OnEnable()
        {
            if (PlaytestBehaviour.Instance != null)
                PlaytestBehaviour.Instance.Session.Draw = Capture;
            else
                Debug.LogWarning("persona-evo: there is no Playtest component yet, so this camera draws no pictures", this);
        }

        private void OnDestroy()
        {
            if (image != null)
                Destroy(image);
        }

        /// <summary>
        /// Returns what the camera sees as a PNG file; null if the camera is gone, or if there are no graphics.
        /// </summary>
        private byte[] Capture()
        {
            if (!this || SystemInfo.graphicsDeviceType == GraphicsDeviceType.Null)
                return null;
            if (image == null)
                image = new Texture2D(width, height, TextureFormat.RGB24, false);
            RenderTexture active = RenderTexture.active, target = RenderTexture.GetTemporary(width, height, 24);
            try
            {
                Render(GetComponent<Camera>(), target);
                RenderTexture.active = target;
                image.ReadPixels(new Rect(0f, 0f, width, height), 0, 0);
                return Png.Encode(width, height, FromTheTop(image.GetPixels32()));
            }
            finally
            {
                RenderTexture.active = active;
                RenderTexture.ReleaseTemporary(target);
            }
        }

        private static void Render(Camera lens, RenderTexture target)
        {
#if UNITY_2022_2_OR_NEWER
            var request = new RenderPipeline.StandardRequest { destination = target };
            if (GraphicsSettings.currentRenderPipeline != null && RenderPipeline.SupportsRenderRequest(lens, request))
            {
                RenderPipeline.SubmitRenderRequest(lens, request);      // in URP with the cameras stacked on this one
                return;
            }
#endif
            RenderTexture before = lens.targetTexture;
            lens.targetTexture = target;
            try
            {
                lens.Render();
            }
            finally
            {
                lens.targetTexture = before;
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
