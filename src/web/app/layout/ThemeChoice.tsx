import { useDispatch, useSelector } from 'react-redux'
import type { IconName } from '../../ui/Icon'
import { Icon } from '../../ui/Icon'
import type { Theme } from '../themeSlice'
import { selectTheme, themeChosen, THEMES } from '../themeSlice'

const appearances: Record<Theme, { label: string; icon: IconName }> = {
  light: { label: 'Light theme', icon: 'sun' },
  dark: { label: 'Dark theme', icon: 'moon' },
  auto: { label: 'Theme of the system', icon: 'contrast' },
}

export function ThemeChoice() {
  const chosen = useSelector(selectTheme)
  const dispatch = useDispatch()
  return (
    <div role="group" aria-label="Theme" className="theme-choice">
      {THEMES.map((theme) => (
        <button
          key={theme}
          type="button"
          className="header-button"
          aria-pressed={theme === chosen}
          aria-label={appearances[theme].label}
          title={appearances[theme].label}
          onClick={() => dispatch(themeChosen(theme))}
        >
          <Icon name={appearances[theme].icon} size={16} />
        </button>
      ))}
    </div>
  )
}
