import CoreData
import Foundation

/// The files of one account's devices, counted.
final class StoredDevicePlace: NSManagedObject {
    private static let accountIDProperty = PropertyKey<UUID?>("accountID")
    private static let revisionProperty = PropertyKey<Int64>("revision")
    private static let fileCountProperty = PropertyKey<Int64>("fileCount")
    private static let fileBytesProperty = PropertyKey<Int64>("fileBytes")
    private static let accountProperty = PropertyKey<StoredAccount?>("account")

    var accountID: UUID? {
        get { self[Self.accountIDProperty] }
        set { self[Self.accountIDProperty] = newValue }
    }
    var revision: Int64 {
        get { self[Self.revisionProperty] }
        set { self[Self.revisionProperty] = newValue }
    }
    /// The number of files that devices made.
    var fileCount: Int64 {
        get { self[Self.fileCountProperty] }
        set { self[Self.fileCountProperty] = newValue }
    }
    /// The bytes of the files that devices made.
    var fileBytes: Int64 {
        get { self[Self.fileBytesProperty] }
        set { self[Self.fileBytesProperty] = newValue }
    }
    var account: StoredAccount? {
        get { self[Self.accountProperty] }
        set { self[Self.accountProperty] = newValue }
    }

    /// Notes that a file was created (1) or deleted (-1).
    func count(_ file: StoredDeviceFile, _ number: Int64) {
        revision += 1
        guard !file.isOfService else { return }
        fileCount += number
        fileBytes += number * file.size
    }
}

/// A file that a device left for the service, or the service for a device.
final class StoredDeviceFile: NSManagedObject {
    private static let accountIDProperty = PropertyKey<UUID?>("accountID")
    private static let folderProperty = PropertyKey<String?>("folder")
    private static let nameProperty = PropertyKey<String?>("name")
    private static let isOfServiceProperty = PropertyKey<Bool>("isOfService")
    private static let createdAtProperty = PropertyKey<Date?>("createdAt")
    private static let sizeProperty = PropertyKey<Int64>("size")
    private static let dataProperty = PropertyKey<Data?>("data")
    private static let placeProperty = PropertyKey<StoredDevicePlace?>("place")

    /// The account again: uniqueness constraints are made of attributes.
    var accountID: UUID? {
        get { self[Self.accountIDProperty] }
        set { self[Self.accountIDProperty] = newValue }
    }
    var folder: String? {
        get { self[Self.folderProperty] }
        set { self[Self.folderProperty] = newValue }
    }
    var name: String? {
        get { self[Self.nameProperty] }
        set { self[Self.nameProperty] = newValue }
    }
    var isOfService: Bool {
        get { self[Self.isOfServiceProperty] }
        set { self[Self.isOfServiceProperty] = newValue }
    }
    var createdAt: Date? {
        get { self[Self.createdAtProperty] }
        set { self[Self.createdAtProperty] = newValue }
    }
    var size: Int64 {
        get { self[Self.sizeProperty] }
        set { self[Self.sizeProperty] = newValue }
    }
    var data: Data? {
        get { self[Self.dataProperty] }
        set { self[Self.dataProperty] = newValue }
    }
    var place: StoredDevicePlace? {
        get { self[Self.placeProperty] }
        set { self[Self.placeProperty] = newValue }
    }
}

extension AccountsModel {
    static var devicePlace: ModelEntity {
        ModelEntity("DevicePlace", class: StoredDevicePlace.self) {
            ModelAttribute("accountID", .uuid).required()
            ModelAttribute("revision", .integer64, default: 0).required()
            ModelAttribute("fileCount", .integer64, default: 0).required()
            ModelAttribute("fileBytes", .integer64, default: 0).required()
            ModelRelationship("account", to: "Account", inverse: "devicePlace").required()
            ModelRelationship("files", to: "DeviceFile", inverse: "place", .toMany(), deleteRule: .cascade)
            ModelConstraint("accountID")
        }
    }

    static var deviceFile: ModelEntity {
        ModelEntity("DeviceFile", class: StoredDeviceFile.self) {
            ModelAttribute("accountID", .uuid).required()
            ModelAttribute("folder", .string).required()
            ModelAttribute("name", .string).required()
            ModelAttribute("isOfService", .boolean, default: false).required()
            ModelAttribute("createdAt", .date).required()
            ModelAttribute("size", .integer64, default: 0).required()
            ModelAttribute("data", .binaryData).required().storedExternally()
            ModelRelationship("place", to: "DevicePlace", inverse: "files").required()
            ModelConstraint("accountID", "folder", "name")
        }
    }
}
