import CoreData
import Foundation

/// A database in the cloud, as a program names it by Apple's names; ``CloudPlaces`` says which place it is.
///
/// It is a container of an ``NSPersistentCloudKitContainer``, or a content of a store with
/// `NSPersistentStoreUbiquitousContentNameKey`.
public struct CloudDatabase: Hashable, Sendable {
    /// The name of the account that is signed in.
    public var account: String
    /// The identifier of the container: `iCloud.com.example.Groceries`.
    public var containerIdentifier: String
    /// The database of the container.
    public var scope: NSPersistentCloudKitContainerOptions.DatabaseScope
    /// The name of the content of iCloud as it was from 2011 to 2016; `nil` for a container of CloudKit.
    public var contentName: String?

    /// Makes a database of a container.
    public init(
        account: String, containerIdentifier: String,
        scope: NSPersistentCloudKitContainerOptions.DatabaseScope = .private, contentName: String? = nil
    ) {
        (self.account, self.containerIdentifier) = (account, containerIdentifier)
        (self.scope, self.contentName) = (scope, contentName)
    }

    /// A relative path that no other database has, for example of a folder:
    /// `iCloud.com.example.Groceries/anna/private`.
    ///
    /// Characters beside ASCII letters, digits, `-`, `_` and `.` are percent-encoded. The public database has no
    /// account in its path.
    public var path: String {
        let container = Self.component(containerIdentifier)
        if let contentName {
            return "\(container)/\(Self.component(account))/content-\(Self.component(contentName))"
        }
        return switch scope {
        case .public: "\(container)/public"
        case .private: "\(container)/\(Self.component(account))/private"
        case .shared: "\(container)/\(Self.component(account))/shared"
        }
    }

    /// A text as one component of a path, safe on every file system.
    static func component(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: ".") where !result.isEmpty: result += "."
            default: result += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return result.isEmpty ? "%" : result
    }
}
