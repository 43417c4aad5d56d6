/** The ship's wheel, as in public/favicon.svg. */
export function Logo({ size = 28 }: { size?: number }) {
  return (
    <svg className="logo" width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <g fill="none" stroke="currentColor" strokeWidth="2" strokeLinecap="round">
        <circle cx="16" cy="16" r="8.5" />
        <path d="M16 2.5v9.5M16 20v9.5M2.5 16H12M20 16h9.5M6.5 6.5l6.7 6.7M18.8 18.8l6.7 6.7M25.5 6.5l-6.7 6.7M13.2 18.8l-6.7 6.7" />
        <circle cx="16" cy="16" r="3.6" />
      </g>
    </svg>
  )
}
