import CoreDataModel
import CoreDataPrimitives
import Foundation

/// The output path of a command that writes a model.
struct ModelOutput {
    let path: String
    var url: URL { URL(fileURLWithPath: path) }

    /// - Parameters:
    ///   - isReplacing: whether existing files may be replaced.
    ///   - hint: the hint in the message if they may not.
    init(_ path: String, isReplacing: Bool, hint: String = "--force replaces it") throws {
        self.path = path
        if isReplacing { try ExportTarget.checkIsNoStore(path) }
        if !isReplacing, FileManager.default.fileExists(atPath: path) {
            throw ToolFailure("There is something at \(path) already; \(hint).")
        }
    }

    /// Runs the function that writes the output; see ``writing(_:_:)``.
    @discardableResult
    func writing<R>(_ body: (URL) throws -> R) throws -> R { try Self.writing(path) { try body(url) } }

    /// Runs the function that writes the output; a failure then names the path and the cause.
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

    /// Returns a path in a folder as a user would type it.
    static func path(_ name: String, in folder: String) -> String {
        if folder == "." { return name }
        return folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
    }
}

extension ModelVersions {
    /// Prints the reader's warnings on standard error.
    func noteWarnings() {
        for diagnostic in diagnostics + versions.flatMap(\.document.diagnostics) where diagnostic.severity == .warning {
            Terminal.note(diagnostic.rendered)
        }
    }

    /// The number of versions as text.
    var countText: String { Grouped.text(versions.count, "version") }
}
