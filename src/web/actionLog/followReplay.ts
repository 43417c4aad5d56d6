/** Marks what belongs to the replay itself, in a page that otherwise does nothing. */
export const CONTROLS = 'data-replay-controls'

const acts = [
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

/** What is shown can be looked at, scrolled and selected, but nothing in it acts: no link leads away, no form is sent. */
export function onlyLook(): () => void {
  const stop = (event: Event) => {
    if (isControl(event)) return
    if (isKey(event) && ['Tab', 'PageUp', 'PageDown'].includes(event.key)) return
    event.stopImmediatePropagation()
    // What the browser itself does by a key, such as to copy or to reload, it may do.
    if (!isKey(event) || !(event.ctrlKey || event.metaKey || /^F\d/.test(event.key))) event.preventDefault()
  }
  // Dialogs keep the focus to themselves.
  const keepFocus = (event: Event) => {
    if (isControl(event)) event.stopImmediatePropagation()
  }
  // Nothing here is lost by leaving.
  const letGo = (event: Event) => event.stopImmediatePropagation()
  for (const act of acts) window.addEventListener(act, stop, true)
  window.addEventListener('focus', keepFocus, true)
  window.addEventListener('beforeunload', letGo, true)
  // And they hide everything else from readers.
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
    for (const act of acts) window.removeEventListener(act, stop, true)
    window.removeEventListener('focus', keepFocus, true)
    window.removeEventListener('beforeunload', letGo, true)
    observer.disconnect()
  }
}
