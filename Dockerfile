# svmtool in a small image.  Without a command it runs the demo:
#   docker build --tag svmtool .
#   docker run --rm svmtool
#   docker run --rm --user "$(id -u)" --volume "$PWD:/data" --workdir /data svmtool svm-train train.txt train.model

FROM python:3.13-slim AS build
WORKDIR /source
COPY scripts/wheel.txt scripts/wheel.txt
RUN pip install --no-cache-dir --requirement scripts/wheel.txt
COPY . .
RUN PYTHONPATH=. python scripts/wheel.py --to /wheels

FROM python:3.13-slim
# The wheel has its loops compiled, for every processor: no compiler is in the image.
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels pip install --no-cache-dir /wheels/*.whl
COPY scripts/demo.sh /usr/local/bin/svmtool-demo
COPY data/breast_cancer data/breast_cancer.t /usr/local/share/svmtool/
RUN useradd --uid 1000 --create-home svmtool
USER 1000
WORKDIR /home/svmtool
CMD ["svmtool-demo", "/usr/local/share/svmtool", "demo"]
