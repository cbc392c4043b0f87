// Credentials and limits, which the places of CoreDataRemoteSync use as well.
@_exported import CoreDataRemote
