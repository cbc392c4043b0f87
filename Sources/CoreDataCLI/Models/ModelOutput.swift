import CoreDataModel
import CoreDataPrimitives
import Foundation

/// Where a command writes a model.
struct ModelOutput {
    let path: String
    var url: URL { URL(fileURLWithPath: path) }

    /// - Parameters:
    ///   - isReplacing: whether something that is there may be replaced.
    ///   - hint: what to say where it may not.
    init(_ path: String, isReplacing: Bool, hint: String = "--force replaces it") throws {
        self.path = path
        if isReplacing { try ExportTarget.checkIsNoStore(path) }
        if !isReplacing, FileManager.default.fileExists(atPath: path) {
            throw ToolFailure("There is something at \(path) already; \(hint).")
        }
    }

    /// Runs what writes there; see ``writing(_:_:)``.
    @discardableResult
    func writing<R>(_ body: (URL) throws -> R) throws -> R { try Self.writing(path) { try body(url) } }

    /// Runs what writes there; a failure then says where and why.
    @discardableResult
    static func writing<R>(_ path: String, _ body: () throws -> R) throws -> R {
        do { return try body() } catch let error as ModelFailure { throw error } catch let error as ToolFailure {
            throw error
        } catch { throw ToolFailure("Cannot write \(path): \(reason(error))") }
    }

    private static func reason(_ error: any Error) -> String {
        let error = error as NSError
        if let underlying = error.userInfo[NSUnderlyingErrorKey] as? any Error,
            case let cause = underlying as NSError, cause.domain == NSPOSIXErrorDomain
        {
            return String(cString: strerror(Int32(cause.code))) + "."
        }
        if error.domain == NSPOSIXErrorDomain { return String(cString: strerror(Int32(error.code))) + "." }
        switch CocoaError.Code(rawValue: error.code) {
        case .fileWriteNoPermission: return "no permission."
        case .fileWriteOutOfSpace: return "there is no space left."
        case .fileWriteVolumeReadOnly: return "it is on a read-only file system."
        case .fileWriteFileExists: return "a file is in the place of its folder."
        default: return error.localizedDescription
        }
    }

    /// A path in a folder as a user would write it.
    static func path(_ name: String, in folder: String) -> String {
        if folder == "." { return name }
        return folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
    }
}

extension ModelVersions {
    /// Tells what the reader found suspicious, on standard error.
    func noteWarnings() {
        for diagnostic in diagnostics + versions.flatMap(\.document.diagnostics) where diagnostic.severity == .warning {
            Terminal.note(diagnostic.rendered)
        }
    }

    /// How many versions there are, in words.
    var countText: String { Grouped.text(versions.count, "version") }
}
