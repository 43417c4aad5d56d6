import { screen } from '@testing-library/react'

/** The texts of the notifications on the page. */
export const notifications = () =>
  [...screen.getByRole('region', { name: 'Notifications' }).children].map((toast) => toast.textContent)
