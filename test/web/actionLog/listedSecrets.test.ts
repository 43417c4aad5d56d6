/** @jest-environment node */
import { commandSubmitted } from '../../../src/web/sockets/consoleSlice'
import { expectHidden, lines, passwordEntered, SECRET } from '../../support/web/exportedLog'

test('the words of a passphrase in a harmless command are masked in the output as a list', () => {
  const words = ['kivaz', 'Huwuf', '2seqa', 'usem']
  for (const command of [`say ${words.join(' ')}`, `ban Eve because ${words.join(' ')}`])
    expectHidden(
      [
        commandSubmitted(command),
        lines(JSON.stringify({ msg: 'cmd', args: command.split(' ').slice(1) }), `{${words.join(',')}}`),
      ],
      /Huwuf|seqa/,
      true,
    )
})
test('a secret is masked in the output as a list of its letters and as the bits of its bytes', () => {
  const bits = Array.from(SECRET, (letter) => letter.charCodeAt(0).toString(2).padStart(8, '0'))
  expectHidden(
    [
      passwordEntered(SECRET),
      lines(JSON.stringify([...SECRET]), [...SECRET].join(', '), bits.join(' '), bits.join('')),
    ],
    /"r"|n, t|01110010/,
    true,
  )
})
