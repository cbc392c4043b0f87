// Credentials and limits, which the destinations of CoreDataRemoteBackup use as well.
@_exported import CoreDataRemote
