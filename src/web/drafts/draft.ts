/** What is edited: a deployment, the path of a file, or a dialog with what it is about. */
export type Subject = { kind: 'configuration' | 'file' | 'form'; name: string }

/** The text or the fields, and what they were made from. Never a password, a code or a credential. */
export type DraftContent = Record<string, string | number | undefined>

export type Draft = Subject & {
  id: string
  /** Nobody else is ever shown it. */
  user: string
  /** Milliseconds since the epoch. */
  keptAt: number
  content: DraftContent
}

/** A draft that no editor of this page has open. Without its content, so that it may be in the store. */
export type Offer = Subject &
  Pick<Draft, 'id' | 'keptAt'> & {
    /** The end of a session closed its editor, and the page is still the same. */
    isInterrupted: boolean
  }
