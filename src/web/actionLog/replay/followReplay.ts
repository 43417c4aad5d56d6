/** The attribute of the replay controls. Input to all other elements of the page is blocked. */
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
 * Blocks input outside the controls: the user can scroll the page and select text, but links and forms do nothing.
 * Returns a function that removes the block.
 */
export function blockInput(): () => void {
  const stop = (event: Event) => {
    if (isControl(event)) return
    if (isKey(event) && ['Tab', 'PageUp', 'PageDown'].includes(event.key)) return
    event.stopImmediatePropagation()
    // Browser shortcuts, such as copy and reload, keep working.
    if (!isKey(event) || !(event.ctrlKey || event.metaKey || /^F\d/.test(event.key))) event.preventDefault()
  }
  // An open dialog would move the focus back from the controls to itself.
  const keepFocus = (event: Event) => {
    if (isControl(event)) event.stopImmediatePropagation()
  }
  // Leaving a replay loses no data, so the pages must not ask for confirmation.
  const allowLeaving = (event: Event) => event.stopImmediatePropagation()
  for (const type of EVENTS) window.addEventListener(type, stop, true)
  window.addEventListener('focus', keepFocus, true)
  window.addEventListener('beforeunload', allowLeaving, true)
  // An open dialog hides everything else from screen readers. The controls must stay accessible.
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
