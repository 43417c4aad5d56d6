import { useEffect, useEffectEvent } from 'react'
import { useSearchParams } from 'react-router-dom'

/**
 * Starts the creation that the page's address asks for, as `?create=sql` does, and removes the parameter from the
 * address.
 * @param start gets the value of the parameter
 */
export function useCreateParameter(start: (type: string) => void) {
  const [parameters, setParameters] = useSearchParams()
  const type = parameters.get('create')
  const startOnce = useEffectEvent(() => {
    if (type === null) return
    const others = new URLSearchParams(parameters)
    others.delete('create')
    setParameters(others, { replace: true, preventScrollReset: true })
    start(type)
  })
  useEffect(() => startOnce(), [type])
}
