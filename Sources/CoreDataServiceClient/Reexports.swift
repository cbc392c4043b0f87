// Sessions, which stores are opened with, and contexts, which use them.
@_exported import CoreData
@_exported import CoreDataRemoteSync
