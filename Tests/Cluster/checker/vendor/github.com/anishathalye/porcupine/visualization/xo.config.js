const xoConfig = {
  prettier: true,
  space: true,
  languageOptions: {
    globals: {
      document: 'readonly',
    },
  },
}

export default xoConfig
