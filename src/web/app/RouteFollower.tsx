import { useLayoutEffect } from 'react'
import { useDispatch } from 'react-redux'
import { useLocation } from 'react-router-dom'
import { routeChanged } from './routeSlice'

/** Tells the store which page is shown, before the page itself has anything to tell. */
export function RouteFollower() {
  const { pathname, search } = useLocation()
  const dispatch = useDispatch()
  useLayoutEffect(() => {
    dispatch(routeChanged(pathname + search))
  }, [pathname, search, dispatch])
  return null
}
