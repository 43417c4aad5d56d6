const path = require('node:path')
const { memoryDirectory } = require('./support/memoryDirectory')

// The workers inherit this.
process.env.TMPDIR ??= memoryDirectory() ?? ''
const root = path.resolve(__dirname, '..')
/**
 * jest looks up each use of a global in the environment of the test, which takes a fifth of the time of the tests of
 * the action log. These are looked up once per module; no test replaces them.
 */
const STEADY_GLOBALS = [
  ...['Array', 'Error', 'JSON', 'Map', 'Math', 'Number', 'Object', 'Promise', 'Reflect', 'RegExp', 'Set', 'String'],
  ...['Symbol', 'WeakMap'],
]
const shared = {
  rootDir: root,
  transform: { '\\.(m?js|tsx?)$': 'babel-jest' },
  // jest's module registry cannot require these packages, which ship only ES modules.
  transformIgnorePatterns: ['/node_modules/(?!(jose|rettime|until-async|@open-draft|@scure|@noble|otplib|@otplib)/)'],
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.cache/', '<rootDir>/data/'],
}

module.exports = {
  rootDir: root,
  // One more than the cores of a small machine: tests spend half of their time waiting for other processes.
  maxWorkers: 3,
  testSequencer: '<rootDir>/test/support/slowestFirst.js',
  reporters: ['default', '<rootDir>/test/support/closingLine.js'],
  projects: [
    { ...shared, displayName: 'contract', testMatch: ['<rootDir>/test/contract/**/*.test.ts'] },
    {
      ...shared,
      displayName: 'web',
      testMatch: ['<rootDir>/test/web/**/*.test.{ts,tsx}'],
      testEnvironment: '<rootDir>/test/support/web/environment.js',
      sandboxInjectedGlobals: STEADY_GLOBALS,
      setupFilesAfterEnv: ['<rootDir>/test/support/web/setup.ts'],
      moduleNameMapper: {
        '\\.s?css$': '<rootDir>/test/support/web/style.js',
        '\\?url$': '<rootDir>/test/support/web/asset.js',
      },
    },
    {
      ...shared,
      displayName: 'platform',
      transform: {
        '/node_modules/(@kubernetes/client-node|openid-client|oauth4webapi|oidc-provider)/':
          '<rootDir>/test/support/platform/commonJs.js',
        ...shared.transform,
      },
      transformIgnorePatterns: [
        shared.transformIgnorePatterns[0].replace(
          'jose|',
          'jose|@kubernetes|openid-client|oauth4webapi|oidc-provider|',
        ),
      ],
      testMatch: ['<rootDir>/test/{platform,cli,deploy}/**/*.test.ts'],
      testEnvironment: '<rootDir>/test/support/platform/environment.js',
      // Child processes run what `globalSetup` has compiled.
      moduleNameMapper: { '/childProgram$': '<rootDir>/test/support/platform/childProgram.ts' },
      globalSetup: '<rootDir>/test/support/platform/globalSetup.ts',
      globalTeardown: '<rootDir>/test/support/platform/globalTeardown.ts',
      setupFilesAfterEnv: ['<rootDir>/test/support/platform/setup.ts'],
    },
    {
      ...shared,
      displayName: 'e2e',
      transform: {
        '/node_modules/oidc-provider/': '<rootDir>/test/support/platform/commonJs.js',
        ...shared.transform,
      },
      transformIgnorePatterns: [shared.transformIgnorePatterns[0].replace('jose|', 'jose|oidc-provider|')],
      testMatch: ['<rootDir>/test/e2e/**/*.test.ts'],
      setupFilesAfterEnv: ['<rootDir>/test/support/browser/setup.ts'],
    },
  ],
}
