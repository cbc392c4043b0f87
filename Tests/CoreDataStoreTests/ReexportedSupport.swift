@_exported import StoreTestSupport
