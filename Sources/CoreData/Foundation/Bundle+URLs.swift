import Foundation

extension Bundle {
    /// The resources with that extension, as `URL`s, which is what Apple's Foundation gives.
    ///
    ///     let models: [URL]? = Bundle.module.urls(forResourcesWithExtension: "momd", subdirectory: nil)
    ///
    /// Off Apple's platforms Foundation's own method gives `NSURL`s. Where nothing says which is wanted it is that one;
    /// `NSManagedObjectModel(contentsOf:)` and `NSMappingModel(contentsOf:)` take either.
    @_disfavoredOverload
    public func urls(forResourcesWithExtension ext: String?, subdirectory subpath: String?) -> [URL]? {
        let found: [NSURL]? = urls(forResourcesWithExtension: ext, subdirectory: subpath)
        return found?.map { $0 as URL }
    }

    /// As above, of one localization.
    @_disfavoredOverload
    public func urls(
        forResourcesWithExtension ext: String?, subdirectory subpath: String?, localization localizationName: String?
    ) -> [URL]? {
        let found: [NSURL]? = urls(
            forResourcesWithExtension: ext, subdirectory: subpath, localization: localizationName)
        return found?.map { $0 as URL }
    }
}

extension NSManagedObjectModel {
    /// As ``init(contentsOf:)-(URL)``, of a URL as `Bundle.urls(forResourcesWithExtension:subdirectory:)` gives it here.
    public convenience init?(contentsOf url: NSURL) { self.init(contentsOf: url as URL) }
}

extension NSMappingModel {
    /// As ``init(contentsOf:)-(URL?)``, of a URL as `Bundle.urls(forResourcesWithExtension:subdirectory:)` gives it here.
    public convenience init?(contentsOf url: NSURL) { self.init(contentsOf: url as URL) }
}
