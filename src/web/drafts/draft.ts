/** The edited object: the name of a deployment, the path of a file, or a name for the dialog. */
export type Subject = { kind: 'configuration' | 'file' | 'form'; name: string }

/** The text or the fields, and the version that they are based on. Never a password, a code or a credential. */
export type DraftContent = Record<string, string | number | undefined>

export type Draft = Subject & {
  id: string
  /** The owner. A draft is shown to no other user. */
  user: string
  /** Milliseconds since the epoch. */
  keptAt: number
  content: DraftContent
}

/** A draft that no editor of this page has open. Has no content, so that it may be in the store. */
export type Offer = Subject &
  Pick<Draft, 'id' | 'keptAt'> & {
    /** Whether the session ended while its editor was open, without a reload of the page since. */
    isInterrupted: boolean
  }
