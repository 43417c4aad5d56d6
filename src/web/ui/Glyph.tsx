/** A stroked path in a 24×24 viewBox. Decorative: its meaning must be given as text or label beside it. */
export function Glyph({ path, size }: { path: string; size: number }) {
  return (
    <svg
      className="icon"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={path} />
    </svg>
  )
}
