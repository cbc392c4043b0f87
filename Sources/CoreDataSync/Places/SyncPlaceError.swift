import Foundation

/// Why a place could not list, read, create or delete.
///
/// As an `NSError` it is of `NSCocoaErrorDomain` with Foundation's code for the reason.
///
///     catch let error as SyncPlaceError where error.reason == .full { … }
public struct SyncPlaceError: LocalizedError, CustomNSError, CustomStringConvertible {
    /// What failed, for a program to decide what to do.
    public enum Reason: Hashable, Sendable {
        /// The name of a folder or file is not allowed.
        case invalidName
        /// The program may not read or write there.
        case noPermission
        /// The place can only be read.
        case readOnly
        /// There is no space left.
        case full
        /// The place cannot be reached, or is not a folder. Trying again later may help.
        case unavailable
        /// The file is larger than a device reads.
        case tooLarge
        /// A part of the file is missing, or the file is damaged. It may arrive whole later.
        case damaged
        /// The file is whole, but was not sealed by a device that knows the passphrase, or not under this name.
        case altered
        /// The passphrase is not the one by which the place was sealed, or a sealed place was used without one.
        case wrongPassphrase
    }

    /// What failed.
    public let reason: Reason
    /// What failed, why, and what to do, for people.
    public let message: String
    /// The path or name of the file or folder.
    public let path: String?

    /// Makes an error of that reason and message.
    public init(_ reason: Reason, _ message: String, path: String? = nil) {
        (self.reason, self.message, self.path) = (reason, message, path)
    }

    public var description: String { message }

    /// The message, as `localizedDescription` returns it.
    public var errorDescription: String? { message }

    /// `NSCocoaErrorDomain`.
    public static var errorDomain: String { NSCocoaErrorDomain }

    /// Foundation's code for the reason.
    public var errorCode: Int {
        let code: CocoaError.Code =
            switch reason {
            case .invalidName: .fileWriteInvalidFileName
            case .noPermission: .fileWriteNoPermission
            case .readOnly: .fileWriteVolumeReadOnly
            case .full: .fileWriteOutOfSpace
            case .unavailable: .fileReadUnknown
            case .tooLarge: .fileReadTooLarge
            case .damaged, .altered: .fileReadCorruptFile
            case .wrongPassphrase: .fileReadNoPermission
            }
        return code.rawValue
    }

    /// The message and the path.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [NSLocalizedDescriptionKey: message]
        info[NSFilePathErrorKey] = path
        return info
    }
}

extension SyncPlaceError {
    /// The error for an error number of the system.
    init(_ verb: String, _ path: String, _ code: Int32) {
        let (reason, advice): (Reason, String) =
            switch code {
            case EACCES, EPERM: (.noPermission, "Give this user permission to it, or choose another folder.")
            case EROFS: (.readOnly, "The volume can only be read. Choose another folder.")
            case ENOSPC, EDQUOT, EFBIG: (.full, "There is no space left. Delete other files from the volume.")
            default: (.unavailable, "Check that the volume is connected.")
            }
        let system = String(cString: strerror(code))
        self.init(reason, "'\(path)' cannot be \(verb) (\(system)). \(advice)", path: path)
    }
}
