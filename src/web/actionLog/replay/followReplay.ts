/** Marks the controls of the replay. Everything else in the page ignores input. */
export const CONTROLS = 'data-replay-controls'

const EVENTS = [
  'click',
  'auxclick',
  'dblclick',
  'submit',
  'keydown',
  'beforeinput',
  'paste',
  'cut',
  'drop',
  'dragover',
  'dragstart',
  'change',
  'contextmenu',
]
const isKey = (event: Event): event is KeyboardEvent => event.type === 'keydown'
const isControl = ({ target }: Event) => target instanceof Element && target.closest(`[${CONTROLS}]`) !== null

/**
 * Blocks input outside the controls: the page can be scrolled and selected, but links and forms do nothing. Returns a
 * function that unblocks it.
 */
export function blockInput(): () => void {
  const stop = (event: Event) => {
    if (isControl(event)) return
    if (isKey(event) && ['Tab', 'PageUp', 'PageDown'].includes(event.key)) return
    event.stopImmediatePropagation()
    // Shortcuts of the browser, such as copy and reload, work.
    if (!isKey(event) || !(event.ctrlKey || event.metaKey || /^F\d/.test(event.key))) event.preventDefault()
  }
  // A dialog would take the focus back from the controls.
  const keepFocus = (event: Event) => {
    if (isControl(event)) event.stopImmediatePropagation()
  }
  // Leaving a replay loses nothing, so the pages must not ask for confirmation.
  const allowLeaving = (event: Event) => event.stopImmediatePropagation()
  for (const type of EVENTS) window.addEventListener(type, stop, true)
  window.addEventListener('focus', keepFocus, true)
  window.addEventListener('beforeunload', allowLeaving, true)
  // A dialog hides everything else, including the controls, from screen readers.
  const observer = new MutationObserver(() => {
    for (const hidden of document.querySelectorAll('[aria-hidden="true"]')) {
      if (hidden.querySelector(`[${CONTROLS}]`)) hidden.removeAttribute('aria-hidden')
    }
  })
  observer.observe(document.body, {
    attributes: true,
    attributeFilter: ['aria-hidden'],
    subtree: false,
    childList: false,
  })
  for (const child of document.body.children)
    observer.observe(child, { attributes: true, attributeFilter: ['aria-hidden'] })
  return () => {
    for (const type of EVENTS) window.removeEventListener(type, stop, true)
    window.removeEventListener('focus', keepFocus, true)
    window.removeEventListener('beforeunload', allowLeaving, true)
    observer.disconnect()
  }
}
