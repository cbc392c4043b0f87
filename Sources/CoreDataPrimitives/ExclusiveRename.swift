import Foundation

/// Renames a file to its final name only if no file has that name.
///
/// If the code checked before `rename(2)`, another process could create a file between the two calls, and the rename
/// would overwrite it.
package enum ExclusiveRename {
    /// Renames a file; both paths must be on one file system.
    ///
    /// ```
    ///  renameat2(RENAME_NOREPLACE) ──▶ not supported by the file system ──▶ link, unlink
    ///                              ──▶ no hard links either ──▶ create an empty file exclusively, then rename
    /// ```
    /// - Returns: 0, or the error number; `EEXIST` if the name is taken. After an error both files are unchanged.
    package static func move(_ source: String, to destination: String) -> Int32 {
        let code = renamed(source, destination)
        return isUnsupported(code) ? moveByLink(source, to: destination) : code
    }

    /// For file systems without `RENAME_NOREPLACE`.
    static func moveByLink(_ source: String, to destination: String) -> Int32 {
        guard link(source, destination) != 0 else {
            unlink(source)
            return 0
        }
        let code = errno
        return code == EPERM || isUnsupported(code) ? moveOverOwnFile(source, to: destination) : code
    }

    /// For file systems without hard links.
    static func moveOverOwnFile(_ source: String, to destination: String) -> Int32 {
        let made = open(destination, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard made >= 0 else { return errno }
        close(made)
        guard rename(source, destination) != 0 else { return 0 }
        let code = errno
        unlink(destination)
        return code
    }

    private typealias RenameAt2 =
        @convention(c) (Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32) -> Int32

    /// The C library's function, which Swift does not import. It is `nil` if the library lacks it, and in statically
    /// linked programs.
    private static let renameat2: RenameAt2? = dlsym(nil, "renameat2").map { unsafeBitCast($0, to: RenameAt2.self) }

    static var isKnownToLibrary: Bool { renameat2 != nil }

    /// `RENAME_NOREPLACE`.
    private static let noReplace: UInt32 = 1

    private static func renamed(_ source: String, _ destination: String) -> Int32 {
        guard let renameat2 else { return ENOSYS }
        return renameat2(AT_FDCWD, source, AT_FDCWD, destination, noReplace) == 0 ? 0 : errno
    }

    private static func isUnsupported(_ code: Int32) -> Bool {
        [ENOSYS, EINVAL, EOPNOTSUPP, ENOTSUP].contains(code)
    }
}
