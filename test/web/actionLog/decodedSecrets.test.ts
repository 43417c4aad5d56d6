/** @jest-environment node */
import { commandSubmitted } from '../../../src/web/sockets/consoleSlice'
import { expectHidden, lines, SECRET } from '../../support/web/exportedLog'

test.each([
  ['echo aHVudGVyMnNlY3JldA== | base64 -d', SECRET],
  ["echo 'Ym9iOmh1bnRlcjJzZWNyZXQ=' | base64 -d", `bob:${SECRET}`],
  ['echo 68756e74657232736563726574 | xxd -r -p', SECRET],
  ['print(bytes([104, 117, 110, 116, 101, 114, 50, 115, 101, 99, 114, 101, 116]))', `b'${SECRET}'`],
  [
    `jwt=eyJhbGciOiJIUzI1NiJ9.${btoa(JSON.stringify({ sub: 'bob', key: SECRET }))}.c2ln`,
    `{"sub":"bob","key":"${SECRET}"}`,
  ],
  [`echo ${btoa(btoa(SECRET))}`, SECRET],
])('a secret that was typed encoded in the command %p is masked in the output where it is decoded', (command, said) =>
  expectHidden([commandSubmitted(command), lines(`got ${said}.`, btoa(said))], /hunter2|er2secret|aHVudGVy/, true),
)
