import { screen } from '@testing-library/react'
import { deploymentOf, instanceOf } from './factories'

/** Says whether the overview is up to date. */
export const badge = () => screen.getByText(/^(Updating\.\.\.|Failed|Live)$/)
/** The section of a deployment. */
export const sectionOf = (name: string) => screen.findByRole('region', { name: new RegExp(`^${name}`) })

/** A deployment that runs. */
export const lobby = deploymentOf('lobby', { description: 'Where everybody meets' })
/** This number of instances of the lobby. */
export const manyOf = (count: number) =>
  Array.from({ length: count }, (_, at) => instanceOf(`${String(at).padStart(6, '0')}-lobby`))
