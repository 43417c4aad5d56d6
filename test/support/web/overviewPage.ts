import { screen } from '@testing-library/react'

/** Says whether the overview is up to date. */
export const badge = () => screen.getByText(/^(Updating\.\.\.|Failed|Live)$/)
/** The section of a deployment. */
export const sectionOf = (name: string) => screen.findByRole('region', { name: new RegExp(`^${name}`) })
