const js = require('@eslint/js')
const { createTypeScriptImportResolver } = require('eslint-import-resolver-typescript')
const importX = require('eslint-plugin-import-x')
const jsxA11y = require('eslint-plugin-jsx-a11y')
const reactHooks = require('eslint-plugin-react-hooks')
const globals = require('globals')
const tseslint = require('typescript-eslint')

/**
 * The import table of src/README.md: for each folder what it may import besides its own files.
 * The first folder that matches a file decides.
 */
const features = [
  'account',
  'admin',
  'auth',
  'databases',
  'deployments',
  'files',
  'instance',
  'overview',
  'notifications',
]
const services = [
  'contract',
  'platform/errors.ts',
  'platform/caller.ts',
  'platform/config.ts',
  'platform/openIdSettings.ts',
  'platform/settingFormats.ts',
  'platform/childProgram.ts',
  'platform/noDebugger.ts',
  'platform/concurrency',
  'platform/consoleHead.ts',
  'platform/lineSplitter.ts',
  'platform/openFiles.ts',
  'platform/postgresClient.ts',
  'platform/processLock.ts',
  'platform/socketTables.ts',
  'platform/supervision',
]
/** What pages, sockets and drafts add themselves to. */
const appState = ['rootReducer', 'appListeners', 'dynamicMiddleware', 'services', 'servicesOf', 'hooks', 'types'].map(
  (name) => `web/app/${name}.ts`,
)
const mayImport = {
  contract: [],
  cli: ['contract'],
  'web/ui': ['web/basePath.ts', 'web/failure.ts', 'web/styles'],
  'web/api': [
    'contract',
    'web/app/services.ts',
    'web/app/types.ts',
    'web/basePath.ts',
    'web/facts.ts',
    'web/failure.ts',
  ],
  'web/drafts': [...appState, 'web/facts.ts', 'web/styles', 'web/ui'],
  'web/sockets': ['contract', ...appState, 'web/basePath.ts', 'web/chunks.ts', 'web/facts.ts'],
  ...Object.fromEntries(
    features.map((name) => [
      `web/features/${name}`,
      [
        'contract',
        'web/api',
        'web/drafts',
        'web/ui',
        'web/sockets',
        ...appState,
        'web/basePath.ts',
        'web/chunks.ts',
        'web/facts.ts',
        'web/failure.ts',
        'web/addresses.ts',
        'web/deploymentPower',
        'web/instanceState.ts',
        'web/styles',
      ],
    ]),
  ),
  'platform/concurrency': [],
  'platform/supervision': ['platform/errors.ts', 'platform/lineSplitter.ts'],
  'platform/postgres': services,
  'platform/state': services,
  'platform/runtime': [...services, 'platform/share', 'platform/kubernetes'],
  'platform/share': services,
  'platform/databases': [...services, 'platform/postgres', 'platform/state'],
  'platform/accounts': [...services, 'platform/state'],
  'platform/kubernetes': [...services, 'platform/state'],
  'platform/deployments': [...services, 'platform/state', 'platform/runtime', 'platform/share'],
  'platform/http': [
    ...services,
    'platform/accounts',
    'platform/databases',
    'platform/deployments',
    'platform/kubernetes',
    'platform/state',
    'platform/share',
  ],
  'platform/sockets': [
    ...services,
    'platform/accounts',
    'platform/deployments',
    'platform/runtime',
    'platform/share',
    'platform/state',
  ],
}

const zones = Object.entries(mayImport).map(([folder, allowed]) => ({
  target: `./src/${folder}`,
  from: './src',
  except: [folder, ...allowed].map((path) => `./${path}`),
  message: `src/${folder} may import only: ${allowed.join(', ') || 'nothing else of ours'} (see src/README.md)`,
}))

module.exports = tseslint.config(
  { ignores: ['dist/', 'data/', '.cache/', 'node_modules/', 'src/cli/api/schema.d.ts'] },
  js.configs.recommended,
  {
    files: ['**/*.js'],
    languageOptions: { sourceType: 'commonjs', globals: globals.node },
  },
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: __dirname } },
    rules: {
      // Prettier breaks long lines of code, but not those of comments.
      'max-len': ['error', { code: Infinity, comments: 120, ignoreUrls: true, ignorePattern: 'eslint-disable' }],
      '@typescript-eslint/consistent-type-imports': 'error',
      // Empty until each lazy slice adds itself.
      '@typescript-eslint/no-empty-object-type': ['error', { allowWithName: '^LazySlices$' }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      // A function may be async because its interface is.
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    files: ['src/**/*.ts', 'src/**/*.tsx'],
    plugins: { 'import-x': importX },
    settings: {
      'import-x/resolver-next': [
        createTypeScriptImportResolver({ project: 'src/*/tsconfig.json', noWarnOnMultipleProjects: true }),
      ],
    },
    rules: {
      'import-x/no-cycle': ['error', { ignoreExternal: true }],
      'import-x/no-restricted-paths': ['error', { basePath: __dirname, zones }],
      'import-x/no-default-export': 'error',
      'max-lines': ['error', { max: 350, skipBlankLines: true }],
    },
  },
  {
    files: ['src/platform/**/*.ts'],
    ignores: ['src/platform/share/streams.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: "CallExpression[callee.property.name='pipe']",
          message:
            'Use `pipeline` where somebody waits for the end, else `piped` of share/streams.ts: a stream error without a listener ends the process',
        },
      ],
    },
  },
  {
    files: ['src/web/**/*.{ts,tsx}', 'test/web/**/*.tsx'],
    extends: [jsxA11y.flatConfigs.recommended, reactHooks.configs.flat.recommended],
  },
  {
    // Floating promises of event handlers are React's own idiom.
    files: ['**/*.tsx'],
    rules: { '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { attributes: false } }] },
  },
  {
    files: ['test/**/*.{ts,tsx}'],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
)
